"""What each image means in NumPy. Importing the package registers every meaning of the library's images."""

from cgraph.images import attention as attention
from cgraph.images import attention_backward as attention_backward
from cgraph.images import attention_padded as attention_padded
from cgraph.images import bias as bias
from cgraph.images import bias_gelu as bias_gelu
from cgraph.images import elementwise as elementwise
from cgraph.images import embedding as embedding
from cgraph.images import gelu as gelu
from cgraph.images import heads as heads
from cgraph.images import layout as layout
from cgraph.images import loss as loss
from cgraph.images import norm as norm
from cgraph.images import optimizer as optimizer
from cgraph.images import product as product
from cgraph.images import rope as rope
