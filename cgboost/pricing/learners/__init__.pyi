from .learners import newton_response as newton_response
from .learners import residuals as residuals
