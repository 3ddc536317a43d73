const SHOWN = 24;

/** Returns the month of UTC of an instant, such as 2026-11. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

/** Returns this month and those before it, the newest first, as a choice. */
export function monthChoices(nowMs: number): { value: string; label: string }[] {
  const now = new Date(nowMs);
  return Array.from({ length: SHOWN }, (_, back) => {
    const value = monthOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    return { value, label: monthName(value) };
  });
}

/** Returns a month in words, such as November 2026. */
export function monthName(month: string): string {
  const shape = { month: 'long', year: 'numeric', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat('en-GB', shape).format(new Date(`${month}-01T00:00:00Z`));
}

/** Returns the last day of a month, such as 2026-11-30. */
export function lastDay(month: string): string {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}
