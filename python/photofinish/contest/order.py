"""Orders of visits: Williams designs, balanced for position and for first-order predecessor.

E. J. Williams, Australian Journal of Scientific Research A 2 (1949) 149–168. For k contestants the first row is
0, 1, k−1, 2, k−2, …: its neighbouring differences are all different modulo k, so the k rows made by adding 0 … k−1 hold
every contestant once in every position, and for even k every ordered pair of neighbours exactly once. For odd k that
takes the k mirrored rows as well (2k rows, every ordered pair twice). Which contestant gets which number, and the order
of the rows, are drawn by the seed anew for each whole design; a last, incomplete design keeps the balance nearly.
"""

import random

_ORDER = "photofinish.order"


def williams(k: int) -> list[list[int]]:
    """The design itself: k rows for even k, 2k rows for odd k, each a permutation of 0 … k−1.

    Raises:
        ValueError: k is below 1.
    """
    if k < 1:
        raise ValueError(f"{k} contestants can't be put in an order; it takes one at least")
    if k == 1:
        return [[0]]
    first = [(step + 1) // 2 if step % 2 else (k - step // 2) % k for step in range(k)]
    rows = [[(number + shift) % k for number in first] for shift in range(k)]
    return rows if k % 2 == 0 else rows + [row[::-1] for row in rows]


def orders(k: int, cycles: int, seed: int) -> list[list[int]]:
    """One order of all k contestants a cycle; the same arguments give the same orders on every machine.

    Args:
        k: contestants, at least 1.
        cycles: how many orders.
        seed: of labels and rows.
    """
    chance = random.Random(f"{_ORDER}:{k}:{seed}")  # noqa: S311 - reproducible, not secret
    design = williams(k)
    made: list[list[int]] = []
    while len(made) < cycles:
        labels = list(range(k))
        chance.shuffle(labels)
        rows = list(design)
        chance.shuffle(rows)
        made.extend([labels[number] for number in row] for row in rows)
    return made[:cycles]


def start_order(k: int, round_index: int, seed: int) -> list[int]:
    """The order in which a round's processes are started: rounds run through Williams designs as cycles do.

    Args:
        k: contestants, at least 1.
        round_index: 0 for the first round.
        seed: of the race, the same for all its rounds.
    """
    return orders(k, round_index + 1, seed)[round_index]
