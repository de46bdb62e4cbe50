"""Compiled bodies over lanes: from rows of the state to poses and rates, then to wrenches of inertia and loads.

Imported only where it runs, because it loads Numba. The last axis of every array runs over lanes (instants); bodies
stand in the order of the model, the frame first. `origin` is 3 x n x d x lane (place, velocity, acceleration), `turn`
3 x n x s x lane (planar angle, angular velocity, angular acceleration; s is 1 or 3), `rotation` n x d x d x lane.
Wrenches are n x w x lane: force, then moment about the body's origin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}


# ---- from rows to bodies ------------------------------------------------------------------------------------------
@njit(**OPTIONS)
def _combined(state, order, lo, first, last, columns, factors, out):  # type: ignore[no-untyped-def]
    """One component as a linear combination of rows, from lane `lo` of the state on."""
    n = len(out)
    if first == last:
        out[:] = 0.0
        return
    row, factor = state[order, columns[first]], factors[first]
    for lane in range(np.uint64(n)):
        out[lane] = factor * row[np.uint64(lo) + lane]
    for k in range(first + 1, last):
        row, factor = state[order, columns[k]], factors[k]
        for lane in range(np.uint64(n)):
            out[lane] += factor * row[np.uint64(lo) + lane]


@njit(**OPTIONS)
def _stand(origin, rotation):  # type: ignore[no-untyped-def]
    """The frame, which comes first: nothing moves."""
    origin[:, 0] = 0.0
    rotation[0] = 0.0
    for c in range(origin.shape[2]):
        rotation[0, c, c] = 1.0


@njit(**OPTIONS)
def planar_bodies(  # type: ignore[no-untyped-def]
    state, lo, start, columns, factors, origin, turn, rotation
):
    """Poses and rates of planar bodies; whole turns of their angles are no part of it.

    Body k has the components 4 k to 4 k + 3: its origin, and the direction of its x axis.
    """
    n, lanes = origin.shape[1], origin.shape[3]
    axis = np.empty((3, 2, lanes))
    _stand(origin, rotation)
    for k in range(1, n):
        for order in range(3):
            for c in range(2):
                at = 4 * k + c
                _combined(state, order, lo, start[at], start[at + 1], columns, factors, origin[order, k, c])
                at += 2
                _combined(state, order, lo, start[at], start[at + 1], columns, factors, axis[order, c])
        x, y, vx, vy, ax, ay = axis[0, 0], axis[0, 1], axis[1, 0], axis[1, 1], axis[2, 0], axis[2, 1]
        r00, r01, r10, r11 = rotation[k, 0, 0], rotation[k, 0, 1], rotation[k, 1, 0], rotation[k, 1, 1]
        omega, alpha = turn[1, k, 0], turn[2, k, 0]
        for lane in range(np.uint64(lanes)):
            square = x[lane] * x[lane] + y[lane] * y[lane]
            size = np.sqrt(square)
            c, s = x[lane] / size, y[lane] / size
            r00[lane] = r11[lane] = c
            r10[lane] = s
            r01[lane] = -s
            rate = (x[lane] * vy[lane] - y[lane] * vx[lane]) / square
            omega[lane] = rate
            along = x[lane] * vx[lane] + y[lane] * vy[lane]
            alpha[lane] = (x[lane] * ay[lane] - y[lane] * ax[lane] - 2.0 * rate * along) / square


@njit(**OPTIONS)
def spatial_bodies(  # type: ignore[no-untyped-def]
    state, lo, start, columns, factors, lines, constants, origin, turn, rotation
):
    """Poses and rates of spatial bodies.

    Body k has the components 12 k to 12 k + 11: its origin and its three axes; a rod (lines[k]) its line in place of
    the first axis. `constants` of a rod are a point of its line in its own axes, the direction of the line and the
    rotation in the first configuration, and the rotation itself.
    """
    n, lanes = origin.shape[1], origin.shape[3]
    axes = np.empty((3, 9, lanes))
    _stand(origin, rotation)
    for k in range(1, n):
        for order in range(3):
            for c in range(3):
                at = 12 * k + c
                _combined(state, order, lo, start[at], start[at + 1], columns, factors, origin[order, k, c])
            for c in range(9):
                at = 12 * k + 3 + c
                _combined(state, order, lo, start[at], start[at + 1], columns, factors, axes[order, c])
        if lines[k]:
            _rod(k, axes, constants[k], origin, turn, rotation)
            continue
        for c in range(3):
            for i in range(3):
                rotation[k, i, c, :] = axes[0, 3 * c + i]
        for order in range(1, 3):
            for i in range(3):
                one, two = (i + 1) % 3, (i + 2) % 3
                out = turn[order, k, i]
                out[:] = 0.0
                for c in range(3):
                    x, y = axes[0, 3 * c + one], axes[0, 3 * c + two]
                    dx, dy = axes[order, 3 * c + one], axes[order, 3 * c + two]
                    for lane in range(np.uint64(lanes)):
                        out[lane] += 0.5 * (x[lane] * dy[lane] - y[lane] * dx[lane])


@njit(**OPTIONS)
def _rod(k, axes, constants, origin, turn, rotation):  # type: ignore[no-untyped-def]
    """A rod: the shortest turn from its first line to the one now, and its own origin."""
    lanes = origin.shape[3]
    K, across, turned = np.zeros((3, 3)), np.zeros(3), np.empty((3, 3))
    p, first = constants[:3], constants[3:6]
    body = constants[6:15].reshape(3, 3)
    for lane in range(np.uint64(lanes)):
        d0, d1, d2 = axes[0, 0, lane], axes[0, 1, lane], axes[0, 2, lane]
        v0, v1, v2 = first[1] * d2 - first[2] * d1, first[2] * d0 - first[0] * d2, first[0] * d1 - first[1] * d0
        c = first[0] * d0 + first[1] * d1 + first[2] * d2
        if 1.0 + c < 1e-12:  # opposite: any perpendicular axis does
            least = 0
            for i in range(1, 3):
                if abs(first[i]) < abs(first[least]):
                    least = i
            e0, e1, e2 = np.float64(least == 0), np.float64(least == 1), np.float64(least == 2)
            across[0] = first[1] * e2 - first[2] * e1
            across[1] = first[2] * e0 - first[0] * e2
            across[2] = first[0] * e1 - first[1] * e0
            size = across[0] ** 2 + across[1] ** 2 + across[2] ** 2
            for i in range(3):
                for j in range(3):
                    turned[i, j] = 2.0 * across[i] * across[j] / size - np.float64(i == j)
        else:
            K[0, 1], K[0, 2], K[1, 2] = -v2, v1, -v0
            K[1, 0], K[2, 0], K[2, 1] = v2, -v1, v0
            for i in range(3):
                for j in range(3):
                    square = K[i, 0] * K[0, j] + K[i, 1] * K[1, j] + K[i, 2] * K[2, j]
                    turned[i, j] = np.float64(i == j) + K[i, j] + square / (1.0 + c)
        for i in range(3):
            for j in range(3):
                rotation[k, i, j, lane] = (
                    turned[i, 0] * body[0, j] + turned[i, 1] * body[1, j] + turned[i, 2] * body[2, j]
                )
        for order in range(1, 3):
            e0, e1, e2 = axes[order, 0, lane], axes[order, 1, lane], axes[order, 2, lane]
            turn[order, k, 0, lane] = d1 * e2 - d2 * e1
            turn[order, k, 1, lane] = d2 * e0 - d0 * e2
            turn[order, k, 2, lane] = d0 * e1 - d1 * e0
        o0, o1, o2 = turn[1, k, 0, lane], turn[1, k, 1, lane], turn[1, k, 2, lane]
        a0, a1, a2 = turn[2, k, 0, lane], turn[2, k, 1, lane], turn[2, k, 2, lane]
        r0, r1, r2 = 0.0, 0.0, 0.0
        for j in range(3):
            r0 -= rotation[k, 0, j, lane] * p[j]
            r1 -= rotation[k, 1, j, lane] * p[j]
            r2 -= rotation[k, 2, j, lane] * p[j]
        w0, w1, w2 = o1 * r2 - o2 * r1, o2 * r0 - o0 * r2, o0 * r1 - o1 * r0
        origin[0, k, 0, lane] += r0
        origin[0, k, 1, lane] += r1
        origin[0, k, 2, lane] += r2
        origin[1, k, 0, lane] += w0
        origin[1, k, 1, lane] += w1
        origin[1, k, 2, lane] += w2
        origin[2, k, 0, lane] += a1 * r2 - a2 * r1 + o1 * w2 - o2 * w1
        origin[2, k, 1, lane] += a2 * r0 - a0 * r2 + o2 * w0 - o0 * w2
        origin[2, k, 2, lane] += a0 * r1 - a1 * r0 + o0 * w1 - o1 * w0


# ---- inertia ------------------------------------------------------------------------------------------------------
@njit(**OPTIONS)
def planar_inertia(origin, turn, rotation, mass, centre, about, wrench, kinetic):  # type: ignore[no-untyped-def]
    """Wrenches that the accelerations need, about the bodies' origins, and the kinetic energy."""
    n, lanes = origin.shape[1], origin.shape[3]
    kinetic[:] = 0.0
    for k in range(n):
        m, cx, cy, inertia = mass[k], centre[k, 0], centre[k, 1], about[k]
        c, s = rotation[k, 0, 0], rotation[k, 1, 0]
        vx, vy, ax, ay = origin[1, k, 0], origin[1, k, 1], origin[2, k, 0], origin[2, k, 1]
        omega, alpha = turn[1, k, 0], turn[2, k, 0]
        fx, fy, moment = wrench[k, 0], wrench[k, 1], wrench[k, 2]
        for lane in range(np.uint64(lanes)):
            x, y = c[lane] * cx - s[lane] * cy, s[lane] * cx + c[lane] * cy
            w, a = omega[lane], alpha[lane]
            gx, gy = ax[lane] - a * y - w * w * x, ay[lane] + a * x - w * w * y
            fx[lane], fy[lane] = m * gx, m * gy
            moment[lane] = inertia * a + m * (x * gy - y * gx)
            ux, uy = vx[lane] - w * y, vy[lane] + w * x
            kinetic[lane] += 0.5 * (m * (ux * ux + uy * uy) + inertia * w * w)


@njit(**OPTIONS)
def spatial_inertia(origin, turn, rotation, mass, centre, about, wrench, kinetic):  # type: ignore[no-untyped-def]
    """As in the plane; `about` is n x 3 x 3, in the axes of the bodies."""
    n, lanes = origin.shape[1], origin.shape[3]
    kinetic[:] = 0.0
    for k in range(n):
        m, R = mass[k], rotation[k]
        v, a, w, e, out = origin[1, k], origin[2, k], turn[1, k], turn[2, k], wrench[k]
        c0, c1, c2 = centre[k, 0], centre[k, 1], centre[k, 2]
        J = about[k]
        for lane in range(np.uint64(lanes)):
            x = R[0, 0, lane] * c0 + R[0, 1, lane] * c1 + R[0, 2, lane] * c2
            y = R[1, 0, lane] * c0 + R[1, 1, lane] * c1 + R[1, 2, lane] * c2
            z = R[2, 0, lane] * c0 + R[2, 1, lane] * c1 + R[2, 2, lane] * c2
            w0, w1, w2, e0, e1, e2 = w[0, lane], w[1, lane], w[2, lane], e[0, lane], e[1, lane], e[2, lane]
            u0, u1, u2 = w1 * z - w2 * y, w2 * x - w0 * z, w0 * y - w1 * x
            f0 = m * (a[0, lane] + e1 * z - e2 * y + w1 * u2 - w2 * u1)
            f1 = m * (a[1, lane] + e2 * x - e0 * z + w2 * u0 - w0 * u2)
            f2 = m * (a[2, lane] + e0 * y - e1 * x + w0 * u1 - w1 * u0)
            # angular velocity and acceleration in the body's axes, the products with the inertia back in global ones
            p0 = R[0, 0, lane] * w0 + R[1, 0, lane] * w1 + R[2, 0, lane] * w2
            p1 = R[0, 1, lane] * w0 + R[1, 1, lane] * w1 + R[2, 1, lane] * w2
            p2 = R[0, 2, lane] * w0 + R[1, 2, lane] * w1 + R[2, 2, lane] * w2
            q0 = R[0, 0, lane] * e0 + R[1, 0, lane] * e1 + R[2, 0, lane] * e2
            q1 = R[0, 1, lane] * e0 + R[1, 1, lane] * e1 + R[2, 1, lane] * e2
            q2 = R[0, 2, lane] * e0 + R[1, 2, lane] * e1 + R[2, 2, lane] * e2
            h0 = J[0, 0] * p0 + J[0, 1] * p1 + J[0, 2] * p2
            h1 = J[1, 0] * p0 + J[1, 1] * p1 + J[1, 2] * p2
            h2 = J[2, 0] * p0 + J[2, 1] * p1 + J[2, 2] * p2
            g0 = J[0, 0] * q0 + J[0, 1] * q1 + J[0, 2] * q2 + p1 * h2 - p2 * h1
            g1 = J[1, 0] * q0 + J[1, 1] * q1 + J[1, 2] * q2 + p2 * h0 - p0 * h2
            g2 = J[2, 0] * q0 + J[2, 1] * q1 + J[2, 2] * q2 + p0 * h1 - p1 * h0
            out[0, lane], out[1, lane], out[2, lane] = f0, f1, f2
            out[3, lane] = R[0, 0, lane] * g0 + R[0, 1, lane] * g1 + R[0, 2, lane] * g2 + y * f2 - z * f1
            out[4, lane] = R[1, 0, lane] * g0 + R[1, 1, lane] * g1 + R[1, 2, lane] * g2 + z * f0 - x * f2
            out[5, lane] = R[2, 0, lane] * g0 + R[2, 1, lane] * g1 + R[2, 2, lane] * g2 + x * f1 - y * f0
            s0, s1, s2 = v[0, lane] + u0, v[1, lane] + u1, v[2, lane] + u2
            kinetic[lane] += 0.5 * (m * (s0 * s0 + s1 * s1 + s2 * s2) + p0 * h0 + p1 * h1 + p2 * h2)


# ---- loads --------------------------------------------------------------------------------------------------------
@njit(**OPTIONS)
def _carried(rotation, k, local, lane):  # type: ignore[no-untyped-def]
    """A vector of a body in global axes; in the plane without a third component."""
    R = rotation[k]
    if len(local) == 2:
        return (R[0, 0, lane] * local[0] + R[0, 1, lane] * local[1],
                R[1, 0, lane] * local[0] + R[1, 1, lane] * local[1], 0.0)  # fmt: skip
    return (R[0, 0, lane] * local[0] + R[0, 1, lane] * local[1] + R[0, 2, lane] * local[2],
            R[1, 0, lane] * local[0] + R[1, 1, lane] * local[1] + R[1, 2, lane] * local[2],
            R[2, 0, lane] * local[0] + R[2, 1, lane] * local[1] + R[2, 2, lane] * local[2])  # fmt: skip


@njit(**OPTIONS)
def _pushed(wrench, k, lane, x, y, z, fx, fy, fz):  # type: ignore[no-untyped-def]
    """Add a force that acts at an arm from the origin of a body."""
    if wrench.shape[1] == 3:
        wrench[k, 0, lane] += fx
        wrench[k, 1, lane] += fy
        wrench[k, 2, lane] += x * fy - y * fx
        return
    wrench[k, 0, lane] += fx
    wrench[k, 1, lane] += fy
    wrench[k, 2, lane] += fz
    wrench[k, 3, lane] += y * fz - z * fy
    wrench[k, 4, lane] += z * fx - x * fz
    wrench[k, 5, lane] += x * fy - y * fx


@njit(**OPTIONS)
def add_force(rotation, k, local, force, wrench):  # type: ignore[no-untyped-def]
    """Add a force (d x lane, or d x 1 where it is constant) on a point of a body."""
    stride, d = 0 if force.shape[1] == 1 else 1, len(local)
    for lane in range(np.uint64(wrench.shape[2])):
        x, y, z = _carried(rotation, k, local, lane)
        fz = force[2, stride * lane] if d == 3 else 0.0
        _pushed(wrench, k, lane, x, y, z, force[0, stride * lane], force[1, stride * lane], fz)


@njit(**OPTIONS)
def _reach(origin, turn, rotation, one, two, p, q, lane):  # type: ignore[no-untyped-def]
    """Both arms, the unit vector from the first end to the second, the length and its rate."""
    d = len(p)
    x1, y1, z1 = _carried(rotation, one, p, lane)
    x2, y2, z2 = _carried(rotation, two, q, lane)
    wx = origin[0, two, 0, lane] + x2 - origin[0, one, 0, lane] - x1
    wy = origin[0, two, 1, lane] + y2 - origin[0, one, 1, lane] - y1
    vx, vy = origin[1, two, 0, lane] - origin[1, one, 0, lane], origin[1, two, 1, lane] - origin[1, one, 1, lane]
    wz, vz = 0.0, 0.0
    if d == 2:
        s1, s2 = turn[1, one, 0, lane], turn[1, two, 0, lane]
        vx += s1 * y1 - s2 * y2
        vy += s2 * x2 - s1 * x1
    else:
        wz = origin[0, two, 2, lane] + z2 - origin[0, one, 2, lane] - z1
        vz = origin[1, two, 2, lane] - origin[1, one, 2, lane]
        a, b, c = turn[1, two, 0, lane], turn[1, two, 1, lane], turn[1, two, 2, lane]
        vx += b * z2 - c * y2
        vy += c * x2 - a * z2
        vz += a * y2 - b * x2
        a, b, c = turn[1, one, 0, lane], turn[1, one, 1, lane], turn[1, one, 2, lane]
        vx -= b * z1 - c * y1
        vy -= c * x1 - a * z1
        vz -= a * y1 - b * x1
    length = np.sqrt(wx * wx + wy * wy + wz * wz)
    scale = 1.0 / length if length > 0.0 else 0.0
    ux, uy, uz = scale * wx, scale * wy, scale * wz
    return x1, y1, z1, x2, y2, z2, ux, uy, uz, length, ux * vx + uy * vy + uz * vz


@njit(**OPTIONS)
def add_spring(origin, turn, rotation, one, two, p, q, numbers, wrench):  # type: ignore[no-untyped-def]
    """Add the tension of a spring with a damper; `numbers`: stiffness, free length, damping."""
    for lane in range(np.uint64(wrench.shape[2])):
        x1, y1, z1, x2, y2, z2, ux, uy, uz, length, rate = _reach(origin, turn, rotation, one, two, p, q, lane)
        tension = numbers[0] * (length - numbers[1]) + numbers[2] * rate
        _pushed(wrench, one, lane, x1, y1, z1, tension * ux, tension * uy, tension * uz)
        _pushed(wrench, two, lane, x2, y2, z2, -tension * ux, -tension * uy, -tension * uz)


@njit(**OPTIONS)
def add_spring_energy(origin, turn, rotation, one, two, p, q, numbers, energy):  # type: ignore[no-untyped-def]
    """Add the energy that a spring holds."""
    for lane in range(np.uint64(len(energy))):
        length = _reach(origin, turn, rotation, one, two, p, q, lane)[9]
        energy[lane] += 0.5 * numbers[0] * (length - numbers[1]) ** 2


@njit(**OPTIONS)
def add_weight_energy(origin, rotation, mass, centre, gravity, energy):  # type: ignore[no-untyped-def]
    """Add the potential energy of the weights, from the global origin."""
    d = origin.shape[2]
    for k in range(origin.shape[1]):
        if mass[k] != 0.0:
            for lane in range(np.uint64(len(energy))):
                x, y, z = _carried(rotation, k, centre[k], lane)
                height = gravity[0] * (origin[0, k, 0, lane] + x) + gravity[1] * (origin[0, k, 1, lane] + y)
                if d == 3:
                    height += gravity[2] * (origin[0, k, 2, lane] + z)
                energy[lane] -= mass[k] * height


# ---- power --------------------------------------------------------------------------------------------------------
@njit(**OPTIONS)
def imbalance(origin, turn, inertia, loads, pushes, singular):  # type: ignore[no-untyped-def]
    """How far the powers of inertia, loads and efforts miss each other in the worst lane that is not singular, and
    the largest power that they are measured by.

    That is the sizes of forces times velocities, and of moments times angular velocities: a force across the motion
    does no work, but its rounding errors do.
    """
    n, d, lanes = origin.shape[1], origin.shape[2], origin.shape[3]
    miss, size = np.zeros(lanes), np.zeros(lanes)
    speed, forces = np.empty(lanes), np.empty((3, lanes))
    for k in range(1, n):
        for part in range(2):
            first, last = (0, d) if part == 0 else (d, inertia.shape[1])
            speed[:] = 0.0
            forces[:] = 0.0
            for c in range(first, last):
                rate = origin[1, k, c] if part == 0 else turn[1, k, c - d]
                one, two, three = inertia[k, c], loads[k, c], pushes[k, c]
                for lane in range(np.uint64(lanes)):
                    a, b, e, v = one[lane], two[lane], three[lane], rate[lane]
                    miss[lane] += v * (a - b - e)
                    speed[lane] += v * v
                    forces[0, lane] += a * a
                    forces[1, lane] += b * b
                    forces[2, lane] += e * e
            for lane in range(np.uint64(lanes)):
                total = np.sqrt(forces[0, lane]) + np.sqrt(forces[1, lane]) + np.sqrt(forces[2, lane])
                size[lane] += np.sqrt(speed[lane]) * total
    worst, largest = 0.0, 0.0
    for lane in range(np.uint64(lanes)):
        if not singular[lane]:
            worst, largest = max(worst, abs(miss[lane])), max(largest, size[lane])
    return worst, largest
