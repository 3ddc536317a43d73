import { spawn } from 'node:child_process';
import { cpus } from 'node:os';
import { row, verdictOf, type Row } from '../figures.js';
import type { Lab } from '../lab.js';
import { loadOn, plainBodyOf, warmUp } from '../loads.js';
import { alternate, compared } from '../turns.js';

const RATIO_MIN = 0.2;
/** Time after which a busy program ends by itself, where the bench was killed and does not end it. */
const BUSY_MS = 1_800_000;

/**
 * Plain chat while other programs want every processor: a machine that is slow gives slow answers, no refusals, which
 * would end the row.
 */
export async function foreignRows(lab: Lab): Promise<Row[]> {
  for (const target of lab.targets) await warmUp(lab, target, plainBodyOf(target));
  const busy = cpus().map(() =>
    spawn(process.execPath, ['-e', `const end = Date.now() + ${BUSY_MS}; while (Date.now() < end);`], {
      stdio: 'ignore',
    }),
  );
  try {
    const rounds = await alternate(lab, {
      warmUp: () => Promise.resolve(),
      measure: (target) => loadOn(target, plainBodyOf(target), 16, lab.options.seconds),
    });
    const rps = compared(rounds, ({ requestsPerSecond }) => requestsPerSecond, 'more');
    return [
      row({
        id: 'foreign-rps',
        figure: 'plain chat 1 KB beside one busy foreign process for each processor',
        unit: 'requests/s',
        ...rps,
        gate: `ratio ≥ ${RATIO_MIN}`,
        verdict: verdictOf((rps.ratio ?? 0) >= RATIO_MIN),
        note: lab.caution,
      }),
      row({
        id: 'foreign-p99',
        figure: 'p99 beside them',
        unit: 'ms',
        ...compared(rounds, ({ p99Ms }) => p99Ms, 'less'),
      }),
    ];
  } finally {
    for (const program of busy) program.kill('SIGKILL');
  }
}
