"""Mechanisms of many kinds of joints, for copies."""

from __future__ import annotations

CHAIN = """
space = "planar"
points = { O = [0.1, 0], A = [0.15, 0.02], B = [0.02, 0.2], Q = [0.02, 0], S = [0.06, 0.1], T = [0.15, 0.12] }
[bodies]
frame  = { points = ["O", "Q", "T"] }
crank  = { points = ["O", "A"], length = 0.05 }
rod    = { points = ["A", "B", "M"], local = { A = [0.01, 0], B = [0.2, 0], M = [0.09, 0.02] } }
piston = { points = ["B"] }
lever  = { points = ["T", "S"] }
stone  = { points = ["S"] }
[joints]
O = { type = "R", bodies = ["frame", "crank"], at = "O" }
A = { type = "R", bodies = ["crank", "rod"], at = "A" }
B = { type = "R", bodies = ["rod", "piston"], at = "B" }
G = { type = "P", bodies = ["frame", "piston"], at = "B", through = "Q", axis = [0.1, 1] }
T = { type = "R", bodies = ["frame", "lever"], at = "T" }
H = { type = "R", bodies = ["lever", "stone"], at = "S" }
E = { type = "slot", bodies = ["rod", "lever"], at = "S", through = "M", axis = [0.3, -1] }
[drivers]
theta = { joint = "O", angle = "0.4 + 2*t" }
phi = { joint = "H", angle = "0.3 - t" }
"""
GUIDE = """
space = "planar"
points = { F = [0.1, 0.05], K = [0, 0], L = [0.3, 0.1] }
[bodies]
frame = { points = ["F"] }
plate = { points = ["K", "L"] }
[joints]
G = { type = "P", bodies = ["plate", "frame"], at = "F", through = "L", axis = [2, 1] }
[drivers]
x = { joint = "G", displacement = "0.1 + 0.2*t" }
"""
WHEELS = """
space = "planar"
points = { O = [0.1, 0.02], T = [0.1, 0.04], L = [0, 0], C = [0.16, 0.02], D = [0.2, 0.1] }
[bodies]
frame  = { points = ["O"] }
pinion = { points = ["O", "T"] }
rack   = { points = ["L"] }
arm    = { points = ["O", "C"] }
planet = { points = ["C", "D"] }
[joints]
O = { type = "R", bodies = ["frame", "pinion"], at = "O" }
G = { type = "P", bodies = ["frame", "rack"], at = "L", axis = [1, 0.2] }
M = { type = "rack", bodies = ["pinion", "rack"], radius = 0.02, axis = [1, 0.2] }
A = { type = "R", bodies = ["frame", "arm"], at = "O" }
C = { type = "R", bodies = ["arm", "planet"], at = "C" }
N = { type = "gear", bodies = ["pinion", "planet"], radii = [0.04, 0.02], carrier = "arm" }
[drivers]
theta = { joint = "O", angle = "pi/2 + t" }
arm = { bodies = ["frame", "arm"], angle = "0.2*t" }
"""
CAM = """
space = "planar"
parameters = { mu = 0.003 }
points = { O = [0.1, 0.02], F = [0.1, 0.08] X }
[bodies]
frame = { points = ["O"] }
cam   = { points = ["O" LISTED] }
valve = { points = ["F"] }
[joints]
O = { type = "R", bodies = ["frame", "cam"], at = "O" }
G = { type = "P", bodies = ["frame", "valve"], at = "F", axis = [0, 1] }
[joints.K]
type     = "cam"
bodies   = ["cam", "valve"]
centre   = "O"
profile  = "0.04 + mu*sin(u) + 0.002*cos(2*u + 0.3)"
follower = { point = "F" FOLLOWER }
[drivers]
theta = { joint = "O", angle = "1 + t" }
"""
ARM = """
space = "spatial"
[points]
O = [0.1, 0, 0]
A = [0.5, 0.2, 0.3]
B = [0.9, -0.3, 0.2]
C = [0.7, 0.1, 0.6]
D = [0.3, 0.4, 0.5]
E = [0.4, 0.4, 0.5]
F = [0.3, 0.4, 0.6]
[bodies]
frame = { points = ["O"] }
a = { points = ["O", "A"] }
b = { points = ["A", "B"], local = { A = [0.1, 0, 0], B = [0.1, 0.6, 0.2] } }
c = { points = ["B", "C"] }
d = { points = ["C", "D"], length = 0.5 }
e = { points = ["D", "E", "F"], local = { D = [0.1, 0, 0], E = [0.1, 0.2, 0], F = [0, 0.1, 0.1] } }
[joints]
O = { type = "R", bodies = ["frame", "a"], at = "O", axis = [0.2, 1, 0.3] }
A = { type = "C", bodies = ["a", "b"], at = "A", axis = [1, 0, 0.3] }
B = { type = "H", bodies = ["b", "c"], at = "B", axis = [0, 1, 0.3], pitch = 0.02 }
C = { type = "P", bodies = ["c", "d"], at = "C", through = "B", axis = [-0.2, 0.4, 0.4] }
D = { type = "R", bodies = ["d", "e"], at = "D", axis = [1, 2, 3] }
[drivers]
o = { joint = "O", angle = "2*t" }
a = { joint = "A", angle = "sin(t)" }
s = { joint = "A", displacement = "0.1*t" }
b = { joint = "B", angle = "1 - t" }
c = { joint = "C", displacement = "0.5 + 0.2*t**2" }
d = { joint = "D", angle = "t**2" }
"""
RSSP = """
space = "spatial"
points = { A = [0, 0.1, 0.12], B = [0, 0.1, 0.2], C = [0.25, 0, 0], G = [0.01, 0, 0] }
[bodies]
frame  = { points = ["A", "G"] }
crank  = { points = ["A", "B"], length = 0.08 }
rod    = { points = ["B", "C"], length = 0.3, kind = "rod" }
slider = { points = ["C"] }
[joints]
A = { type = "R", bodies = ["frame", "crank"], at = "A", axis = [1, 0, 0] }
B = { type = "S", bodies = ["crank", "rod"], at = "B" }
C = { type = "S", bodies = ["rod", "slider"], at = "C" }
G = { type = "P", bodies = ["frame", "slider"], at = "C", through = "G", axis = [1, 0, 0] }
[drivers]
theta = { joint = "A", angle = "2*t" }
"""
PLATE = """
space = "spatial"
points = { A = [-1, 0, 0], B = [0.4, -1, 0], C = [0, 1, 0], P = [0, 0, 0], Q = [0.4, 0, 0], S = [0, 0.2, 0] }
[bodies]
frame = { points = ["A", "B", "C"] }
plate = { points = ["P", "Q", "S"] }
[joints]
E = { type = "planar", bodies = ["frame", "plate"], at = "P", normal = [0, 0, 1] }
[drivers]
a = { between = ["A", "P"], distance = "1 + 0.1*sin(t)" }
b = { between = ["B", "Q"], distance = 1 }
c = { between = ["C", "S"], distance = 0.8 }
"""
SWASH = """
space = "spatial"
points = { O = [0, 0, 0], A = [0.04, 0, -0.01], D = [0, 0.1, 0.5], F = [0.1, 0.1, 0.52] }
[bodies]
frame   = { points = ["O", "D"] }
shaft   = { points = ["O"] }
plunger = { points = ["A"] }
finger  = { points = ["D", "F"] }
[joints]
S = { type = "R", bodies = ["frame", "shaft"], at = "O", axis = [0, 0, 1] }
G = { type = "P", bodies = ["frame", "plunger"], at = "A", axis = [0, 0, 1] }
K = { type = "on-plane", bodies = ["shaft", "plunger"], at = "A", through = "O", normal = [0.25, 0, 1] }
D = { type = "R", bodies = ["frame", "finger"], at = "D", axis = [0, 1, 0] }
L = { type = "on-cylinder", bodies = ["shaft", "finger"], at = "F", axis = [0.2, 0.1, 1], through = "O" }
[drivers]
theta = { joint = "S", angle = "2*t" }
"""
BEVEL = """
space = "spatial"
points = { O = [0, 0, 0], P = [0.06, 0, 0], L = [0, 0.5, 0] }
[bodies]
frame  = { points = ["O"] }
cage   = { points = ["O", "P"] }
planet = { points = ["P"] }
left   = { points = ["O", "L"] }
[joints]
C  = { type = "R", bodies = ["frame", "cage"], at = "O", axis = [0, 1, 0] }
P  = { type = "R", bodies = ["cage", "planet"], at = "P", axis = [1, 0, 0] }
L  = { type = "R", bodies = ["frame", "left"], at = "O", axis = [0, 1, 0] }
[joints.ML]
type    = "gear"
bodies  = ["planet", "left"]
radii   = [0.04, 0.06]
carrier = "cage"
axes    = [[1, 0, 0], [0, 1, 0]]
[drivers]
cage = { joint = "C", angle = "2*t" }
left = { joint = "L", angle = "1.8*t" }
"""
CARDAN = """
space = "spatial"
points = { A = [0, 0, 0], B = [1, 0, 0], C = [2, 0.4, 0] }
[bodies]
frame  = { points = ["A", "C"] }
input  = { points = ["A", "B"] }
output = { points = ["B", "C"] }
[joints]
A = { type = "R", bodies = ["frame", "input"], at = "A", axis = [1, 0, 0] }
B = { type = "U", bodies = ["input", "output"], at = "B", axes = [[0, 0, 1], [-0.4, 1, 0]] }
C = { type = "C", bodies = ["frame", "output"], at = "C", axis = [1, 0.4, 0] }
[drivers]
theta = { joint = "A", angle = "2*t" }
"""
CART = """
space = "planar"
points = { B = [0.1, 0], Q = [0, 0.1], E = [0.35, 0.1], T = [0.5, 0.6] }
[bodies]
frame = { points = ["Q", "T"] }
cart  = { points = ["B"] }
arm   = { points = ["B", "E"] }
[joints]
G = { type = "P", bodies = ["frame", "cart"], at = "B", through = "Q", axis = [1, -0.9] }
B = { type = "R", bodies = ["cart", "arm"], at = "B" }
"""


def cam(follower: str, second: bool) -> str:
    """Return the cam with a follower; with a second point its axes go with it."""
    text = CAM.replace(" FOLLOWER", follower).replace(" X", ", X = [0.13, 0.03]" if second else "")
    return text.replace(" LISTED", ', "X"' if second else "")


PLANAR = {
    "chain": CHAIN,
    "guide": GUIDE,
    "wheels": WHEELS,
    "knife": cam("", False),
    "roller": cam(", radius = 0.01", True),
    "flat": cam(", direction = [1, 0.2]", True),
}
SPATIAL = {"arm": ARM, "RSSP": RSSP, "plate": PLATE, "swash": SWASH, "bevel": BEVEL, "cardan": CARDAN}
