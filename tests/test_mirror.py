"""Every module has its test file in the same place below `tests/`, or one here that covers it."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent

CONSTRAINED = "estimators/constrained/test_constrained_boost.py"
"""Its problems have every constraint, master and pool of constrained models."""

ELSEWHERE = {
    "cgboost/_moved.py": "test_moved.py",
    "cgboost/_solvers.py": "test_own_solvers.py",
    "cgboost/_version.py": "studies/test_cli.py",
    "cgboost/additive/trees/boosted_rows.py": "additive/trees/test_boosted_tree_growth.py",
    "cgboost/sources.py": "additive/sql/test_source.py",
    "cgboost/additive/places/place.py": "additive/places/test_memory.py",
    "cgboost/additive/places/workers.py": "additive/places/test_partitions.py",
    "cgboost/additive/trees/model_tree_growth.py": "additive/trees/test_model_tree.py",
    "cgboost/additive/trees/split_search.py": "additive/trees/test_boosted_tree_growth.py",
    "cgboost/additive/trees/smoothers.py": "estimators/transform/test_additive.py",
    "cgboost/estimators/common/bases.py": "test_typing.py",
    "cgboost/estimators/common/certified.py": "estimators/common/test_path.py",
    "cgboost/estimators/common/fit_loop.py": "estimators/common/test_result.py",
    "cgboost/estimators/common/objective.py": "estimators/common/test_formulations.py",
    "cgboost/estimators/common/rows.py": "estimators/common/test_bad_input.py",
    "cgboost/estimators/common/stagewise.py": "estimators/boosting/test_any_boost.py",
    "cgboost/estimators/common/subproblems.py": "estimators/common/test_joint.py",
    "cgboost/persistence/arrays.py": "persistence/test_codec.py",
    "cgboost/persistence/classes.py": "persistence/test_codec.py",
    "cgboost/persistence/decoding.py": "persistence/test_codec.py",
    "cgboost/persistence/encoding.py": "persistence/test_codec.py",
    "cgboost/persistence/nodes.py": "persistence/test_codec.py",
    "cgboost/inspection/onnx/columns.py": "inspection/onnx/test_models.py",
    "cgboost/inspection/onnx/graph.py": "inspection/onnx/test_models.py",
    "cgboost/inspection/onnx/kernels.py": "inspection/onnx/test_models.py",
    "cgboost/constraints.py": CONSTRAINED,
    "cgboost/estimators/constrained/columns.py": CONSTRAINED,
    "cgboost/estimators/constrained/data.py": "estimators/constrained/test_inputs.py",
    "cgboost/estimators/constrained/infeasible.py": "estimators/constrained/test_inputs.py",
    "cgboost/estimators/constrained/problem.py": CONSTRAINED,
    "cgboost/estimators/constrained/report.py": CONSTRAINED,
    "cgboost/estimators/constrained/rules/base.py": "estimators/constrained/test_inputs.py",
    "cgboost/estimators/constrained/rules/budget.py": CONSTRAINED,
    "cgboost/estimators/constrained/rules/calibration.py": CONSTRAINED,
    "cgboost/estimators/constrained/rules/group_loss.py": CONSTRAINED,
    "cgboost/estimators/constrained/rules/objective.py": CONSTRAINED,
    "cgboost/estimators/constrained/rules/own.py": CONSTRAINED,
    "cgboost/estimators/constrained/rules/parity.py": CONSTRAINED,
    "cgboost/estimators/constrained/rules/shape.py": CONSTRAINED,
    "cgboost/estimators/constrained/search.py": CONSTRAINED,
    "cgboost/losses/dual/constraint_rows.py": CONSTRAINED,
    "cgboost/masters/constrained/convex.py": CONSTRAINED,
    "cgboost/masters/constrained/master.py": CONSTRAINED,
    "cgboost/pricing/constrained/extended.py": CONSTRAINED,
    "cgboost/pricing/constrained/oriented.py": CONSTRAINED,
    "cgboost/estimators/kernel/cg_boost.py": "estimators/common/test_result.py",
    "cgboost/estimators/kernel/families.py": "estimators/kernel/test_whole_kernels.py",
    "cgboost/estimators/kernel/outlier_detector.py": "estimators/common/test_nu.py",
    "cgboost/estimators/latent/latent_factors.py": "estimators/latent/test_components.py",
    "cgboost/estimators/linear/composed.py": "estimators/linear/test_drop_ins.py",
    "cgboost/estimators/linear/linear_fit.py": "estimators/linear/test_sparse_linear.py",
    "cgboost/estimators/linear/mean_loss.py": "estimators/linear/test_sparse_linear.py",
    "cgboost/estimators/linear/scaling.py": "estimators/linear/test_sparse_linear.py",
    "cgboost/estimators/transform/base.py": "estimators/transform/test_conformance.py",
    "cgboost/estimators/transform/variants.py": "estimators/transform/test_transform.py",
    "cgboost/estimators/thinning/leaves.py": "estimators/thinning/test_thinned_ensemble.py",
    "cgboost/estimators/thinning/members.py": "estimators/thinning/test_thinned_ensemble.py",
    "cgboost/estimators/thinning/predictions.py": "estimators/thinning/test_thinned_ensemble.py",
    "cgboost/estimators/thinning/problem.py": "estimators/thinning/test_thinned_ensemble.py",
    "cgboost/estimators/thinning/rows.py": "estimators/thinning/test_fitting.py",
    "cgboost/exceptions.py": "test_messages.py",
    "cgboost/generation/live_line.py": "generation/test_progress.py",
    "cgboost/generation/protocols.py": "generation/test_loop.py",
    "cgboost/generation/spaces.py": "pricing/rkhs/test_whole_kernels.py",
    "cgboost/inspection/drawing.py": "inspection/test_history_plots.py",
    "cgboost/inspection/model_pictures.py": "inspection/test_transform_pictures.py",
    "cgboost/inspection/model_selection.py": "estimators/boosting/test_l2_boost.py",
    "cgboost/integer/branching/checks.py": "integer/test_arguments.py",
    "cgboost/integer/decomposition/model_text.py": "integer/decomposition/test_bad_input.py",
    "cgboost/integer/reporting/callbacks.py": "integer/test_branch_and_price.py",
    "cgboost/kernels/combinations.py": "kernels/test_sums.py",
    "cgboost/kernels/features/rbf.py": "kernels/test_conformance.py",
    "cgboost/kernels/whole.py": "pricing/rkhs/test_whole_kernels.py",
    "cgboost/linear.py": "estimators/linear/test_drop_ins.py",
    "cgboost/losses/absolute_error.py": "losses/test_base.py",
    "cgboost/losses/dual/entropic.py": "masters/support_vector/test_entropy.py",
    "cgboost/losses/epsilon_insensitive.py": "losses/test_base.py",
    "cgboost/losses/hinge.py": "losses/test_base.py",
    "cgboost/losses/log_loss.py": "losses/test_base.py",
    "cgboost/losses/poisson.py": "losses/test_base.py",
    "cgboost/losses/quantile.py": "losses/test_base.py",
    "cgboost/losses/squared_error.py": "losses/test_base.py",
    "cgboost/losses/squared_hinge.py": "losses/test_base.py",
    "cgboost/masters/column_store.py": "masters/dual_solvers/test_large_columns.py",
    "cgboost/masters/convex/solve.py": "masters/convex/test_solving.py",
    "cgboost/masters/dual_solvers/cone_blocks.py": ("masters/dual_solvers/test_cone_equations.py"),
    "cgboost/masters/dual_solvers/cone_steps.py": (
        "masters/dual_solvers/test_cone_interior_point.py"
    ),
    "cgboost/masters/dual_solvers/interior_point_steps.py": (
        "masters/dual_solvers/test_interior_point.py"
    ),
    "cgboost/masters/dual_solvers/optimal_partition.py": (
        "masters/dual_solvers/test_interior_point.py"
    ),
    "cgboost/masters/dual_solvers/restricted_dual.py": (
        "masters/dual_solvers/test_interior_point.py"
    ),
    "cgboost/masters/dual_solvers/simplex.py": "masters/support_vector/test_master.py",
    "cgboost/masters/quantiles/joint_columns.py": "masters/quantiles/test_master.py",
    "cgboost/masters/quantiles/joint_dual.py": "masters/quantiles/test_master.py",
    "cgboost/masters/quantiles/joint_session.py": "masters/quantiles/test_master.py",
    "cgboost/masters/quantiles/joint_simplex.py": "masters/quantiles/test_master.py",
    "cgboost/masters/quantiles/restricted.py": "masters/quantiles/test_master.py",
    "cgboost/masters/rkhs/restricted.py": "masters/rkhs/test_whole_kernels.py",
    "cgboost/masters/support_vector/balanced_response.py": (
        "masters/support_vector/test_free_columns.py"
    ),
    "cgboost/masters/support_vector/formulations.py": "masters/support_vector/test_entropy.py",
    "cgboost/masters/support_vector/smooth_loss.py": "masters/support_vector/test_smooth_primal.py",
    "cgboost/parallel/cluster.py": "parallel/test_executors.py",
    "cgboost/penalties/base.py": "penalties/test_penalties.py",
    "cgboost/penalties/elastic_net.py": "penalties/test_penalties.py",
    "cgboost/penalties/entropy.py": "penalties/test_penalties.py",
    "cgboost/penalties/function_norm.py": "penalties/test_rkhs.py",
    "cgboost/penalties/group_norm.py": "penalties/test_penalties.py",
    "cgboost/penalties/l1.py": "penalties/test_penalties.py",
    "cgboost/penalties/l1_ball.py": "penalties/test_penalties.py",
    "cgboost/penalties/l2.py": "penalties/test_penalties.py",
    "cgboost/penalties/squared_group_norm.py": "penalties/test_penalties.py",
    "cgboost/pricing/kernels/partition.py": "pricing/kernels/test_pricer.py",
    "cgboost/pricing/kernels/scores.py": "pricing/kernels/test_references.py",
    "cgboost/pricing/learners/class_learners.py": "pricing/learners/test_class_votes.py",
    "solvers/backends/clarabel.py": "solvers/backends/test_conformance.py",
    "solvers/backends/piqp.py": "solvers/backends/test_conformance.py",
    "solvers/backends/scipy.py": "solvers/backends/test_conformance.py",
    "solvers/program/arrays.py": "solvers/program/test_program.py",
    "solvers/program/errors.py": "solvers/program/test_verdict.py",
    "solvers/program/status.py": "solvers/program/test_verdict.py",
    "solvers/sessions/protocols.py": "solvers/test_registry.py",
    "solvers/sessions/rebuilding.py": "solvers/sessions/test_session.py",
    "solvers/tolerances.py": "test_tolerances.py",
}
"""A module without a file of its own, and the test that covers it."""


def mirrored(module: Path) -> Path:
    """Where the tests of a module belong: folders as they are, without `cgboost/`."""
    inside = module.relative_to(ROOT)
    if inside.parts[0] == "cgboost":
        inside = inside.relative_to("cgboost")
    return TESTS / inside.with_name(f"test_{inside.name}")


def modules() -> list[Path]:
    """All modules of both packages; what an `__init__` has is tested where it comes from."""
    found = [path for package in ("cgboost", "solvers") for path in (ROOT / package).rglob("*.py")]
    return sorted(path for path in found if path.name != "__init__.py")


def test_every_module_has_a_test() -> None:
    """A module of neither kind needs a test file, or a line in `ELSEWHERE`."""
    without = [
        path.relative_to(ROOT).as_posix() for path in modules() if not mirrored(path).exists()
    ]
    assert sorted(set(without) - set(ELSEWHERE)) == []
    assert sorted(set(ELSEWHERE) - set(without)) == []  # gone, or has a file of its own


def test_what_covers_them_is_there() -> None:
    """Every test that the table names is a file."""
    assert [name for name in ELSEWHERE.values() if not (TESTS / name).is_file()] == []
