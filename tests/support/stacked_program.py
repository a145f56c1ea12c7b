"""A program of three equal layers between a beginning and an end, small enough to work out by hand."""

STACKED = """-- How many elements.
parameter n : Nat = 64
parameter layers : Nat = 3
-- What goes in.
plane given : f32 [n] input
-- One for each layer.
plane stream (l : Nat < (naturalAdd layers 1)) : f32 [n] scratch
plane kept (l : Nat < (naturalAdd layers 1)) : f32 [n] scratch
plane result : f32 [n] output
phase first "the beginning"
-- A layer of the stack.
phase layer "one layer"
phase half "its first half"
phase rest "its second half"
-- Adds two planes.
image add = kernel "add.cu" "addTwo" {
  slot 0 out : write f32 [n]
  slot 1 a : read f32 [n]
  slot 2 b : read f32 [n] optional
  slot 3 n : natural
  slot 4 scale : float
  block 32
}

-- Adds, at a size.
def sum =
  (lambda unrestricted out : Plane f32 [n] .
  (lambda unrestricted a : Plane f32 [n] .
  (lambda unrestricted b : Plane f32 [n] .
    (cgLaunch add (naturalCeilDivide n 32) 1 1
      (cgPointer (cgArgument 0) out
      (cgPointer (cgArgument 1) a
      (cgPointer (cgArgument 2) b
      (cgNatural (cgArgument 3) n
      (cgFloat (cgArgument 4) 1.5 cgNoSlots)))))))))

def unused = (cgFill result 0.0)

def main =
  (cgThen (cgPhase first (cgCopy (stream 0) given))
  (cgThen
    (cgEach layers
      (lambda unrestricted l : Nat .
        (cgPhase layer
          (cgThen
            (cgPhase half (sum (kept l) (stream l) (stream l)))
            (cgPhase rest
              (cgThen (cgFill (stream (naturalAdd l 1)) 0.5)
                (sum (stream (naturalAdd l 1)) (kept l) given)))))))
    (cgCopy result (stream layers))))
"""
