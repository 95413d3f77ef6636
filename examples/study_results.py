"""Three selections of the best of 10 candidates: a study, and its picture."""

import style

import fastexp as fx


def main() -> None:
    arguments = style.begin(__doc__)
    study = fx.Study(
        name="selections",
        data={"name": "scores", "most": 20},
        n=10,
        epsilon=[0.2, 0.5, 1.0, 2.0, 5.0],
        mechanisms=[
            {"name": "exponential", "label": "exponential"},
            {"name": "permute-and-flip", "label": "permute-and-flip"},
            {"name": "report-noisy-max", "noise": "laplace", "label": "noisy max"},
        ],
        figures="loss",
        datasets=50,
        draws=100,
    )
    style.end(study.run().plot(), arguments)


if __name__ == "__main__":
    main()
