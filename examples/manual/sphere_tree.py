"""A scene of 96 spheres for rays.mask: nodes.npy, the tree; grouped.npy and shuffled.npy, which ray a thread has.

A node holds others: its sphere is around theirs. `found` asks all spheres one by one, in the same f32.
"""

import numpy as np

F = np.float32
made = np.random.default_rng(7)
middles = (made.random((96, 3)) * (4, 4, 6) + (-2, -2, 0)).astype(F)
radii = (0.1 + 0.25 * made.random(96)).astype(F)


def around(which):
    """Return a sphere around others, a little larger than it must be."""
    middle = middles[which].mean(axis=0).astype(F)
    far = np.linalg.norm(middles[which] - middle, axis=1) + radii[which]
    return middle, F(far.max() * 1.01)


def tree(which):
    """Return nodes in depth-first order: middle, radius, how many nodes its branch has, the number of a sphere."""
    if len(which) == 1:
        return [(middles[which[0]], radii[which[0]], 1, which[0] + 1)]
    axis = np.ptp(middles[which], axis=0).argmax()
    order = which[middles[which, axis].argsort()]
    below = tree(order[: len(order) // 2]) + tree(order[len(order) // 2 :])
    return [(*around(which), 1 + len(below), 0), *below]


def words(nodes):
    """Return the nodes as memory has them."""
    rows = np.zeros((len(nodes), 8), np.uint32)
    for at, (middle, radius, size, number) in enumerate(nodes):
        rows[at, :4] = np.array([*middle, radius * radius], F).view(np.uint32)
        rows[at, 4:6] = 32 * (at + size), number
    return rows.reshape(-1)


def found():
    """Return the number of the sphere that each ray meets first, asking all."""
    y, x = np.divmod(np.arange(1024, dtype=np.uint32), 32)
    ray = np.stack([(x.astype(F) - F(15.5)) / F(16), (y.astype(F) - F(15.5)) / F(16), np.full(1024, 2, F)])
    ray = ray / np.sqrt(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2])
    best, number = np.full(1024, 1000, F), np.zeros(1024, np.uint32)
    for middle, radius, _, which in tree(np.arange(96)):
        a, b, c = middle[0], middle[1], middle[2] + F(4)
        along = a * ray[0] + b * ray[1] + c * ray[2]
        apart = (a * a + b * b + c * c) - along * along
        nearer = (apart < radius * radius) & (along > 0) & (along < best) & (which > 0)
        best, number = np.where(nearer, along, best), np.where(nearer, which, number).astype(np.uint32)
    return number


if __name__ == "__main__":
    np.save("nodes.npy", words(tree(np.arange(96))))
    np.save("grouped.npy", np.arange(1024, dtype=np.uint32))
    np.save("shuffled.npy", made.permutation(1024).astype(np.uint32))
