"""What each image means in NumPy. Importing the package registers every meaning of the library's images."""

from cgraph.images import attention as attention
from cgraph.images import attention_backward as attention_backward
from cgraph.images import elementwise as elementwise
from cgraph.images import gelu as gelu
from cgraph.images import layout as layout
from cgraph.images import norm as norm
from cgraph.images import product as product
from cgraph.images import rope as rope
