// `npm run drills`: installs and builds what is missing, then runs the drills in Jest. Other arguments go to Jest.
import { parseArgs } from 'node:util';
import { build, handOver, install, requireNode, root } from './tools/bootstrap.mjs';
import { drillPaths, shareOf } from './tools/drill-share.mjs';

const HELP = `usage: npm run drills -- [pattern] [--share K/N] [--list] [--help] [arguments of Jest]

  pattern      run the drills whose path matches it
  --share K/N  run every N-th drill by name, beginning with the K-th (from 0)
  --list       print the paths of the drills, and run none
  --help       print this
`;

requireNode();
const { paths, flags, ofJest } = readFlags();
if (flags.help) process.stdout.write(HELP);
else if (flags.list) process.stdout.write(paths.map((path) => `${path}\n`).join(''));
else await drill();

async function drill() {
  await install();
  await build();
  const modules = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const chosen = flags.share === undefined ? [] : ['--runTestsByPath', ...paths];
  const jest = ['node_modules/jest/bin/jest.js', '--config', 'jest.drills.config.js'];
  handOver([...modules, ...jest, ...ofJest, ...chosen], 'ignore');
}

function readFlags() {
  const boolean = { type: 'boolean', default: false };
  const options = { share: { type: 'string' }, list: boolean, help: boolean };
  const { values, tokens } = parseArgs({ options, strict: false, allowPositionals: true, tokens: true });
  const isOurs = (token) => token.kind === 'option' && token.name in options;
  const taken = new Set(
    tokens
      .filter(isOurs)
      .flatMap(({ index, inlineValue }) => (inlineValue === false ? [index, index + 1] : [index])),
  );
  const ofJest = process.argv.slice(2).filter((_, index) => !taken.has(index));
  try {
    const all = drillPaths(root);
    return {
      flags: values,
      ofJest,
      paths: values.share === undefined ? all : shareOf(all, `${values.share}`),
    };
  } catch (error) {
    process.stderr.write(`${error.message}.\n\n${HELP}`);
    return process.exit(2);
  }
}
