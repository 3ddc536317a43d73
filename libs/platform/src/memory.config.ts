/**
 * `@gateway/platform/memory`: what bounds a process that every request, line or event goes through: the edge, the workers
 * and the usage service. Young garbage is collected in 16 MiB instead of up to 64, by one thread: on few processors V8's
 * helpers cost more than they save. The heap may grow to twice what lives, V8 would take five times. With 4 MiB and half
 * more an edge had 291 MiB instead of 348, and took 195 µs of processor a request instead of 137. Buffers count where V8
 * decides when to collect all: so the ballast of the shipper's thread works (shipper-worker.ts).
 */
const FLAGS = [
  '--max-semi-space-size=16',
  '--no-parallel-scavenge',
  '--heap-growing-percent=100',
  '--external-memory-accounted-in-global-limit',
];
/** malloc would keep an arena for each of its dozen threads, and what one of them freed no other uses again. */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '1' };

/**
 * V8 takes the size of its young generation, and malloc the number of its arenas, at the start of a process only: so the
 * process replaces itself, once and before it loads anything, by one that has them. It keeps pid, parent and streams.
 * Where the system cannot do that (Windows) it goes on without.
 */
export function boundMemory(): void {
  const { execPath, execArgv, argv, env } = process;
  if (process.execve === undefined || FLAGS.every((flag) => execArgv.includes(flag))) return;
  process.execve(execPath, [execPath, ...FLAGS, ...execArgv, ...argv.slice(1)], { ...ENVIRONMENT, ...env });
}
