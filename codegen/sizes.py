"""Sizes of a type, and where the parts of its work array begin; templates read them and do no arithmetic."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """p constraints, r dependent, s independent; where the parts of the work array begin."""

    p: int
    r: int
    s: int
    n_active: int
    columns: int
    rheonomic: int
    tensors: int
    work: int

    @property
    def matrix(self) -> int:
        """Words of Φ_φ; pivots, or the diagonal of R, stand behind it."""
        return self.p * self.r

    @property
    def sides(self) -> int:
        """Where right-hand sides begin, behind Φ_φ and its pivots."""
        return self.matrix + self.r

    @property
    def known_matrix(self) -> int:
        """Words of Φ_h."""
        return self.p * self.s

    @property
    def last(self) -> int:
        return self.r - 1

    @property
    def diagonal(self) -> int:
        """From one entry of the diagonal of Φ_φ to the next."""
        return self.r + 1

    @property
    def coefficients(self) -> int:
        """Words of K."""
        return self.r * self.s

    @property
    def tensor(self) -> int:
        """Words of L."""
        return self.s * self.coefficients

    @property
    def kept(self) -> int:
        """Where K and L of a sweep begin, behind a vector of φ."""
        return self.tensors + self.r

    @property
    def bias_rate(self) -> int:
        """Where d(S b)/dt begins, behind S b."""
        return self.rheonomic + self.r

    @property
    def coefficient_rates(self) -> int:
        """Where K_t begins."""
        return self.bias_rate + self.r

    @property
    def parameters(self) -> int:
        """Where the adjoints of parameters begin, behind those of φ and h."""
        return self.r + self.s

    @property
    def beyond_known(self) -> int:
        """The bit of a mask that follows those of the known coordinates."""
        return 1 << self.s
