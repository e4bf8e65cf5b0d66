"""Models of one machine: fit, store, score.

    Scorer        a recording → a result: score and decision (`Detector`, `ExportedDetector`)
    FrameScorer   frames of the front end → scores; used by a `Scorer` and by live scoring
    MachineJudge  scores over time → alarm levels; live only, in `ssdpt.alarms`

recording → Scorer (samples → front end → FrameScorer) → result; live: FrameScorer → MachineJudge
"""
