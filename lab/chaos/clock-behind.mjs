// Preloaded (`node --import`): the wall clock of the process that CLOCK_BEHIND_OF names stands CLOCK_BEHIND_MS behind, as on a
// machine that was never set. Timers and the monotonic clock go on as they are.
const { CLOCK_BEHIND_OF, CLOCK_BEHIND_MS, JOURNAL_PRODUCER } = process.env;

if (CLOCK_BEHIND_OF !== undefined && CLOCK_BEHIND_OF === JOURNAL_PRODUCER) {
  const Right = Date;
  const behind = Number(CLOCK_BEHIND_MS);
  globalThis.Date = class Date extends Right {
    constructor(...given) {
      if (given.length === 0) super(Right.now() - behind);
      else super(...given);
    }

    static now() {
      return Right.now() - behind;
    }
  };
}
