"""Matrix routines on a single thread while small matrices are computed."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ssdpt.common import threads
from ssdpt.common.threads import SINGLE_BLAS_THREAD


def blas_threads():
    np.ones((4, 4)) @ np.ones((4, 4))
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def test_one_thread_inside_and_as_many_as_before_outside():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with SINGLE_BLAS_THREAD:
            assert blas_threads() == {1}
            with SINGLE_BLAS_THREAD:  # another user comes and goes
                pass
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_an_error_inside_leaves_no_limit():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ValueError, match="inside"), SINGLE_BLAS_THREAD:
            raise ValueError("inside")
        assert blas_threads() == before


def test_without_the_library_nothing_is_limited(monkeypatch):
    def missing():
        raise ImportError

    monkeypatch.setattr(threads, "_controller", missing)
    with SINGLE_BLAS_THREAD:
        pass
