"""Every kind of joint: compiled, symbolic and by differences with 60 digits."""

import pytest

from assurgent.codegen.joint_verification import BOUND, verify_joints
from assurgent.generated.joints import planar, spatial


@pytest.mark.parametrize("module", [planar, spatial], ids=["planar", "spatial"])
def test_three_routes_agree(module):
    space = module.__name__.rpartition(".")[2]
    found = verify_joints(space, module.constraints, count=2)
    assert len(found) >= 11
    for kind in found:
        assert kind.passed, f"{kind.name}: {kind.errors}, bound {BOUND}"


def test_a_wrong_row_is_found():
    def wrong(items, numbers, extras, first, last, bodies, phi, J, gamma, out):
        planar.constraints(items, numbers, extras, first, last, bodies, phi, J, gamma, out)
        gamma *= 1.0 + 1e-9

    found = {kind.name: kind for kind in verify_joints("planar", wrong, count=1)}
    assert not found["planar revolute"].passed
    assert found["planar gear"].passed  # whose γ is zero
