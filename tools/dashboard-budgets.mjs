// What the dashboard's build weighs after gzip, against its budgets. `node tools/dashboard-budgets.mjs [--sizes] FOLDER`
// prints what is over and ends with 1. Plain JavaScript, because it is part of the build.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Bytes: what is loaded before any page, any page with that, and what a chart or a part that is loaded later adds. */
const BUDGETS = { initialJs: 180_000, page: 240_000, initialCss: 45_000, part: 90_000, chart: 20_000 };
const CHART = 'src/chart/';
const PAGE = /-pages?\.tsx$/;

const folder = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
const parts = JSON.parse(readFileSync(join(folder, '.vite', 'manifest.json'), 'utf8'));
const measured = measure();
if (process.argv.includes('--sizes'))
  for (const [name, bytes] of measured) process.stdout.write(`${String(bytes).padStart(8)}  ${name}\n`);
const over = measured.filter(([, bytes, budget]) => bytes > budget);
for (const [name, bytes, budget] of over)
  process.stderr.write(`The dashboard's ${name} has ${bytes} bytes after gzip, its budget is ${budget}.\n`);
process.exitCode = over.length > 0 ? 1 : 0;

/** [name, bytes, budget] of each part. */
function measure() {
  const names = Object.keys(parts);
  const initial = withImports(names.find((name) => parts[name].isEntry));
  const filesOf = (all) => [...all].map((name) => parts[name].file);
  const initialJs = weightOf(filesOf(initial));
  const added = (name) => weightOf(filesOf([...withImports(name)].filter((part) => !initial.has(part))));
  return [
    ['initial JavaScript', initialJs, BUDGETS.initialJs],
    ['initial CSS', weightOf([...initial].flatMap((name) => parts[name].css ?? [])), BUDGETS.initialCss],
    ...names
      .filter((name) => parts[name].isDynamicEntry && !initial.has(name))
      .map((name) => {
        if (PAGE.test(name))
          return [`${name} with the initial JavaScript`, initialJs + added(name), BUDGETS.page];
        return [name, added(name), name.startsWith(CHART) ? BUDGETS.chart : BUDGETS.part];
      }),
  ];
}

/** A part and all that it imports before it runs. */
function withImports(name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const imported of parts[name].imports ?? []) withImports(imported, seen);
  return seen;
}

function weightOf(files) {
  const unlike = [...new Set(files)].filter((file) => /\.(?:js|css)$/.test(file));
  return unlike.reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(folder, file)), { level: 9 }).length,
    0,
  );
}
