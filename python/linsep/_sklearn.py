"""What scikit-learn asks of an estimator beyond parameters, given without importing it before it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # For annotations only: importing these takes time.
    from typing_extensions import Self

#: scikit-learn's word for a request that stays as it is.
UNCHANGED = "$UNCHANGED$"


class SklearnFace:
    """Tags and metadata routing."""

    _estimator_type = "classifier"
    #: Whether sparse matrices are taken.
    _takes_sparse = True
    #: Whether features must not be negative.
    _positive_only = False
    #: Whether features must be whole numbers, which scikit-learn's checks know as categorical.
    _whole_numbers = False
    #: Whether the method is known to fit poorly where scikit-learn's checks ask for good scores.
    _poor_score = False
    #: Methods that take ``sample_weight``.
    _weighted: tuple[str, ...] = ("fit", "score")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(poor_score=self._poor_score),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(
                sparse=self._takes_sparse,
                positive_only=self._positive_only,
                categorical=self._whole_numbers,
                pairwise=self._is_pairwise(),
            ),
        )

    def _is_pairwise(self) -> bool:
        return False

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__ or self.__dict__.get("_by_counts", False)

    def _get_metadata_request(self) -> Any:
        import copy

        if "_metadata_request" in self.__dict__:
            return copy.deepcopy(self._metadata_request)
        from sklearn.utils.metadata_routing import MetadataRequest

        requests = MetadataRequest(owner=type(self).__name__)
        for method in self._weighted:
            getattr(requests, method).add_request(param="sample_weight", alias=None)
            if method == "partial_fit":
                requests.partial_fit.add_request(param="classes", alias=None)
        return requests

    def get_metadata_routing(self) -> Any:
        """What metadata the methods ask for.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
        """
        return self._get_metadata_request()

    def _request(self, method: str, sample_weight: Any, classes: Any = UNCHANGED) -> Any:
        import sklearn

        if not sklearn.get_config().get("enable_metadata_routing", False):
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. You can enable it using"
                " sklearn.set_config(enable_metadata_routing=True)."
            )
        requests = self._get_metadata_request()
        if sample_weight != UNCHANGED:
            getattr(requests, method).add_request(param="sample_weight", alias=sample_weight)
        if classes != UNCHANGED:
            getattr(requests, method).add_request(param="classes", alias=classes)
        self._metadata_request = requests
        return self

    def set_fit_request(self, *, sample_weight: bool | str | None = UNCHANGED) -> Self:
        """Says whether ``fit`` asks a router for ``sample_weight``: True, False, None or another name.

        Returns
        -------
        self
        """
        return self._request("fit", sample_weight)

    def set_score_request(self, *, sample_weight: bool | str | None = UNCHANGED) -> Self:
        """Says whether ``score`` asks a router for ``sample_weight``: True, False, None or another name.

        Returns
        -------
        self
        """
        return self._request("score", sample_weight)
