// `npm start`: installs and builds what is missing, then hands over to the all-in-one app on the package's Node.
import { build, handOver, install } from './tools/bootstrap.mjs';

install();
build();
handOver(['--enable-source-maps', 'dist/apps/all-in-one/src/main.js', ...process.argv.slice(2)], 'inherit');
