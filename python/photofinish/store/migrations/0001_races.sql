-- Races as they happened: plan and environment whole, then round after round.
CREATE TABLE runs (
    ordinal     INTEGER PRIMARY KEY,               -- order in which they began
    id          TEXT    NOT NULL UNIQUE,
    created_at  TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    status      TEXT    NOT NULL CHECK (status IN ('running', 'interrupted', 'finished')),
    plan        TEXT    NOT NULL,                  -- JSON
    environment TEXT    NOT NULL                   -- JSON
) STRICT;

CREATE TABLE rounds (
    run         INTEGER NOT NULL REFERENCES runs (ordinal),
    ordinal     INTEGER NOT NULL,
    seed        TEXT    NOT NULL,                  -- decimal; seeds use all 64 bits
    started_at  TEXT    NOT NULL,
    duration_s  REAL    NOT NULL,
    facts       TEXT    NOT NULL,                  -- JSON
    void_code   TEXT,
    void_detail TEXT,
    PRIMARY KEY (run, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE trials (
    id          INTEGER PRIMARY KEY,               -- keeps the order within a round
    run         INTEGER NOT NULL,
    round       INTEGER NOT NULL,
    cell        TEXT    NOT NULL,
    entry       TEXT    NOT NULL,
    slot        INTEGER NOT NULL,
    figures     TEXT    NOT NULL,                  -- JSON
    evidence    TEXT    NOT NULL,                  -- JSON
    labels      TEXT    NOT NULL,                  -- JSON
    voided      TEXT    NOT NULL,                  -- JSON: figure -> reason code
    void_code   TEXT,
    void_detail TEXT,
    FOREIGN KEY (run, round) REFERENCES rounds (run, ordinal)
) STRICT;
CREATE INDEX trials_of_round ON trials (run, round);

CREATE TABLE windows (
    trial       INTEGER PRIMARY KEY REFERENCES trials (id),
    number      INTEGER NOT NULL,
    packed      BLOB    NOT NULL                   -- zlib of JSON, one column a value
) STRICT;

CREATE TABLE histograms (
    trial       INTEGER NOT NULL REFERENCES trials (id),
    name        TEXT    NOT NULL,
    encoded     BLOB    NOT NULL,                  -- HdrHistogram V2, without the base64
    PRIMARY KEY (trial, name)
) STRICT, WITHOUT ROWID;

-- Append-only: what was measured is never rewritten.
CREATE TRIGGER rounds_stay     BEFORE UPDATE ON rounds     BEGIN SELECT RAISE(ABORT, 'append-only: rounds are never changed'); END;
CREATE TRIGGER rounds_remain   BEFORE DELETE ON rounds     BEGIN SELECT RAISE(ABORT, 'append-only: rounds are never deleted'); END;
CREATE TRIGGER trials_stay     BEFORE UPDATE ON trials     BEGIN SELECT RAISE(ABORT, 'append-only: trials are never changed'); END;
CREATE TRIGGER trials_remain   BEFORE DELETE ON trials     BEGIN SELECT RAISE(ABORT, 'append-only: trials are never deleted'); END;
CREATE TRIGGER windows_stay    BEFORE UPDATE ON windows    BEGIN SELECT RAISE(ABORT, 'append-only: windows are never changed'); END;
CREATE TRIGGER windows_remain  BEFORE DELETE ON windows    BEGIN SELECT RAISE(ABORT, 'append-only: windows are never deleted'); END;
CREATE TRIGGER histograms_stay BEFORE UPDATE ON histograms BEGIN SELECT RAISE(ABORT, 'append-only: histograms are never changed'); END;
CREATE TRIGGER histograms_remain BEFORE DELETE ON histograms BEGIN SELECT RAISE(ABORT, 'append-only: histograms are never deleted'); END;
CREATE TRIGGER runs_remain     BEFORE DELETE ON runs       BEGIN SELECT RAISE(ABORT, 'append-only: runs are never deleted'); END;
CREATE TRIGGER runs_stay       BEFORE UPDATE OF ordinal, id, created_at, version, plan, environment ON runs
    BEGIN SELECT RAISE(ABORT, 'append-only: of a run only the status changes'); END;

-- running -> interrupted -> finished, each step or both; never back.
CREATE TRIGGER status_forward BEFORE UPDATE OF status ON runs
    WHEN instr('running,interrupted,finished', NEW.status) < instr('running,interrupted,finished', OLD.status)
    BEGIN SELECT RAISE(ABORT, 'append-only: the status of a run only moves forward'); END;
CREATE TRIGGER finished_is_finished BEFORE INSERT ON rounds
    WHEN (SELECT status FROM runs WHERE ordinal = NEW.run) = 'finished'
    BEGIN SELECT RAISE(ABORT, 'append-only: a finished run takes no more rounds'); END;
