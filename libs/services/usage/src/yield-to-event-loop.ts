/** Lets the event loop go round once: what waits, a driver's socket say, comes before the next piece of work. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
