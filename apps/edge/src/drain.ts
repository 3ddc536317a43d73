import 'reflect-metadata';
import { alarmLine, drainJournal, EdgeConfig } from '@gateway/edge';
import { kafkaAccess, WorkerShipper } from '@gateway/event-log';
import { HttpFunds, readFleetSettings } from '@gateway/fleet';
import {
  createLogger,
  logDestination,
  InternalHttp,
  loadConfig,
  readConfigs,
  serviceEnvironment,
  SystemClock,
  SystemRandom,
} from '@gateway/platform';

/** The job that empties a stranded journal volume: `node dist/apps/edge/src/drain.js`, in the edge's environment. */
const WAIT_MS = 600_000;

try {
  const env = serviceEnvironment();
  const { fleet, config } = readConfigs({
    fleet: () => readFleetSettings(['USAGE_URL'], env),
    config: () => loadConfig(EdgeConfig, env),
  });
  const clock = new SystemClock();
  const random = new SystemRandom();
  const logger = createLogger({ service: 'drain', level: fleet.LOG_LEVEL }, logDestination());
  const onFault = (error: unknown): void => logger.error({ err: error }, 'draining goes on after a fault');
  const services = { usage: fleet.USAGE_URL ?? '' };
  const funds = new HttpFunds(
    new InternalHttp({ clock, random, fleetToken: fleet.FLEET_TOKEN[0], services }),
    random,
  );
  const drained = await drainJournal({
    dir: config.JOURNAL_DIR,
    clock,
    random,
    funds,
    waitMs: WAIT_MS,
    onAlarm: (alarm) => logger.warn(alarmLine(alarm, config.JOURNAL_DIR), `journal alarm: ${alarm.kind}`),
    onFault,
    startShipper: (events) =>
      new WorkerShipper({
        kafka: kafkaAccess(fleet),
        clientId: 'drain',
        clock,
        watermark: (producer, epoch) => funds.watermark(producer, epoch),
        events,
        onFault,
      }),
  });
  process.stdout.write(`${JSON.stringify(drained)}\n`);
  process.exitCode = drained.left === 0 ? 0 : 1;
} catch (failure) {
  process.stderr.write(`drain: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exitCode = 1;
}
// What it was connected to may hold it.
process.exit();
