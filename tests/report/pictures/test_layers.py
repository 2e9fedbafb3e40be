"""Drawn graphs: boxes never overlap, edges begin and end at their boxes, whatever the graph."""

from __future__ import annotations

import random
from itertools import combinations

from warpsmith.report.pictures.layers import lay_out


def test_boxes_of_random_graphs_stand_apart() -> None:
    dice = random.Random(3)
    for _ in range(120):
        count = dice.randrange(1, 14)
        sizes = {f"n{i}": (dice.choice([20.0, 90.0, 300.0]), dice.choice([18.0, 60.0])) for i in range(count)}
        edges = [(f"n{dice.randrange(count)}", f"n{dice.randrange(count)}") for _ in range(dice.randrange(2 * count))]
        edges = list(dict.fromkeys(edges))
        drawn = lay_out(sizes, edges)
        assert drawn.centers.keys() == sizes.keys()
        for one, two in combinations(sizes, 2):
            (x, y), (u, v) = drawn.centers[one], drawn.centers[two]
            apart_x = abs(x - u) - (sizes[one][0] + sizes[two][0]) / 2
            apart_y = abs(y - v) - (sizes[one][1] + sizes[two][1]) / 2
            assert max(apart_x, apart_y) >= 0, (one, two, edges)
        for (x, y), (wide, tall) in ((drawn.centers[node], sizes[node]) for node in sizes):
            assert wide / 2 <= x <= drawn.size[0] - wide / 2
            assert tall / 2 <= y <= drawn.size[1] - tall / 2
        for (start, end), route in zip(edges, drawn.routes, strict=True):
            for node, (x, y) in ((start, route[0]), (end, route[-1])):
                cx, cy = drawn.centers[node]
                assert abs(x - cx) <= sizes[node][0] / 2 + 1
                assert abs(y - cy) <= sizes[node][1] / 2 + 1
