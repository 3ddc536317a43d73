// Jest's reporter of a run's end: the files that took longest, and those that were left out. Plain JavaScript, because Jest loads it before any
// transform of ours.
const SLOWEST = 10;

/**
 * Returns the files that took longest, one line each, the slowest first.
 * @param {{ path: string, ms: number }[]} files
 */
export function slowestOf(files) {
  return [...files]
    .sort((one, other) => other.ms - one.ms)
    .slice(0, SLOWEST)
    .map(({ path, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${path}`);
}

/**
 * Returns what to say of files that this machine cannot run; nothing where there are none.
 * @param {{ sentences: string[], specs: string[] }} leftOut
 */
export function leftOutText({ sentences, specs }) {
  if (specs.length === 0) return '';
  const lines = specs.map((path) => `           ${path}`);
  return `\n${specs.length} spec files were left out. ${sentences.join(' ')}\n${lines.join('\n')}\n`;
}

export default class RunSummary {
  constructor({ rootDir }) {
    this.rootDir = rootDir;
  }

  onRunComplete(_contexts, { testResults }) {
    process.stderr.write(
      leftOutText(JSON.parse(process.env.GATEWAY_LEFT_OUT ?? '{"sentences":[],"specs":[]}')),
    );
    // Of a few files Jest itself says what is slow.
    if (testResults.length <= SLOWEST) return;
    const files = testResults.map(({ testFilePath, perfStats }) => ({
      path: testFilePath.slice(this.rootDir.length + 1),
      ms: perfStats.end - perfStats.start,
    }));
    process.stderr.write(`\nThe ${SLOWEST} slowest files:\n${slowestOf(files).join('\n')}\n`);
  }
}
