export type ServiceKind = 'postgres' | 'redis' | 'kafka' | 'redis-cluster';

/** Servers with TLS and credentials, started for one test. */
export type SecuredKind = 'secured-redis' | 'secured-kafka';

/** One server that is ready to be used. */
export interface RunningService {
  /** postgresql://… of a superuser, redis://…, host:port of a broker, or the nodes of a cluster joined by commas. */
  address: string;
  /** The process to signal in fault tests; absent where the server is not a process of ours. */
  pid?: number;
  /** Kills at once: nobody reads the data again. Waits until the process is gone. */
  stop(): Promise<void>;
}
