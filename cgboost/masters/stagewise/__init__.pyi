from .stagewise import StagewiseMaster as StagewiseMaster
