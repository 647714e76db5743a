"""The papers whose tables and figures are computed again; one file each."""

from evaluation.reproductions import cao2022, deas2023, hofmann2024, kohankhaki

PAPERS = (cao2022.PAPER, deas2023.PAPER, hofmann2024.PAPER, kohankhaki.PAPER)
