import type { Random } from '@gateway/contracts';
import type { FaultProxy, Faults, Proxied } from '@gateway/testing';

const EVERY_MS = 700;

/** One thing that a network does. A reset of what is open stands apart, because it is an event, not a state. */
const WEATHER: readonly (Faults | 'reset')[] = [
  { toServer: { latencyMs: 20 }, toClient: { latencyMs: 20 } },
  { toClient: { pieceBytes: 1, pieceIntervalMs: 0 } },
  { toClient: { bytesPerSecond: 20_000 } },
  { toClient: { isStalled: true } },
  { toServer: { isStalled: true } },
  { toClient: { cutAfterBytes: 2_000 } },
  { connect: 'reset' },
  { connect: 'hang' },
  'reset',
];

/** Disturbs a random place in a random way every 700 ms until `end`; the others are healthy. */
export function disturbNetwork(proxies: ReadonlyMap<Proxied, FaultProxy>, random: Random): { end(): void } {
  const all = [...proxies.values()];
  const heal = (): void => {
    for (const proxy of all) proxy.set({});
  };
  const timer = setInterval(() => {
    heal();
    const proxy = all[Math.floor(random.fraction() * all.length)];
    const weather = WEATHER[Math.floor(random.fraction() * WEATHER.length)];
    if (weather === 'reset') proxy.resetAll();
    else proxy.set(weather);
  }, EVERY_MS);
  return {
    end: () => {
      clearInterval(timer);
      heal();
    },
  };
}
