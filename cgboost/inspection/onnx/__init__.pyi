from .models import to_onnx as to_onnx
