import { freePorts } from './built-program.js';
import type { FleetApp } from './fleet-environment.js';
import { Reaper } from './reaper.js';
import { ServiceProcess } from './service-process.js';

/** The processes of one fleet. */
export class FleetProcesses {
  readonly processes = new Map<string, ServiceProcess>();
  readonly findings: string[] = [];
  private readonly reaper = new Reaper();
  private replicas = 0;

  constructor(
    private readonly environment: Record<string, string>,
    private readonly options: {
      env?: Partial<Record<FleetApp | 'all', Record<string, string>>>;
      nodeArgs?: Partial<Record<FleetApp, string[]>>;
      isSupervised?: boolean;
      folder?: string;
      through?: readonly string[];
    },
  ) {}

  add(app: FleetApp, name: string, url: string, more: Record<string, string> = {}): ServiceProcess {
    const { env: own, nodeArgs, folder, through, isSupervised = false } = this.options;
    const env = { ...this.environment, JOURNAL_PRODUCER: name, ...own?.[app], ...more };
    const onFinding = isSupervised ? (finding: string) => void this.findings.push(finding) : undefined;
    const made = new ServiceProcess({
      ...{ name, app, url, env, folder, through, onFinding },
      nodeArgs: nodeArgs?.[app],
      reaper: this.reaper,
    });
    this.processes.set(name, made);
    return made;
  }

  /** All of them have started or failed before one failure ends the others: none is left that nobody knows. */
  async startAll(): Promise<void> {
    const all = [...this.processes.values()];
    const started = await Promise.allSettled(all.map((process) => process.start()));
    for (const result of started) if (result.status === 'rejected') throw result.reason;
    await Promise.all(all.map((process) => process.untilReady()));
  }

  async startReplica(app: FleetApp, env: Record<string, string> = {}): Promise<ServiceProcess> {
    const [port] = await freePorts(1);
    this.replicas += 1;
    const replica = this.add(app, `${app}-r${this.replicas}`, `http://127.0.0.1:${port}`, env);
    await replica.start();
    await replica.untilReady();
    return replica;
  }

  /** Edges first, so that what they finished is still taken. */
  async endAll(): Promise<Record<string, number | string>> {
    const ended: Record<string, number | string> = {};
    for (const edgesNow of [true, false]) {
      const turn = [...this.processes.values()].filter(({ app }) => (app === 'edge') === edgesNow);
      await Promise.all(turn.map(async (process) => (ended[process.name] = await process.end())));
    }
    this.reaper.end();
    return ended;
  }
}
