// `npm start`: installs and builds what is missing, then hands over to the all-in-one app on the package's Node.
import * as util from 'node:util';
import { build, handOver, install, requireNode } from './tools/bootstrap.mjs';

const HELP = `npm start -- [--port N] [--json] [--check-config] [--help]

  --port N        listen on port N, 0 for any free one (default: PORT, else 8080)
  --json          print one line of JSON once it is ready: {base_url, dashboard_url, api_key, admin}
  --check-config  check the settings and end
  --help          print this

Settings are environment variables: see .env.example. The data is in .data/, or in GATEWAY_DATA_DIR.
`;

requireNode();
const flags = readFlags();
if (flags.help) process.stdout.write(HELP);
else await start(flags);

function readFlags() {
  const flag = { type: 'boolean', default: false };
  try {
    const options = { help: flag, json: flag, 'check-config': flag, port: { type: 'string' } };
    return util.parseArgs({ options }).values;
  } catch (error) {
    process.stderr.write(`${error.message.split('. ')[0]}.\n\n${HELP}`);
    process.exit(2);
  }
}

async function start({ port, json, 'check-config': checkConfig }) {
  if (port !== undefined) process.env.PORT = port;
  await install();
  await build();
  const passed = [...(json ? ['--json'] : []), ...(checkConfig ? ['--check-config'] : [])];
  handOver(['--enable-source-maps', 'dist/apps/all-in-one/src/main.js', ...passed], 'inherit');
}
