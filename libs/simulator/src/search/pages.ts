export interface Page {
  readonly title: string;
  readonly url: string;
  readonly text: string;
  readonly day: string;
}

const NAMES = ['Guide', 'History', 'Questions', 'News', 'Shop'];
const PAGES_MAX = 20;

/** Returns the pages of the simulated web for any query but `nothing`. */
export function pagesFor(query: string, most: number): Page[] {
  if (/\bnothing\b/i.test(query)) return [];
  const topic = query.trim().slice(0, 80);
  return Array.from({ length: Math.min(most, PAGES_MAX, NAMES.length) }, (_, at) => ({
    title: `${NAMES[at]}: ${topic}`,
    url: `https://www.example.com/${NAMES[at].toLowerCase()}?about=${encodeURIComponent(topic)}`,
    text: `Page ${at + 1} of the simulated web about ${topic}.`,
    day: `2026-11-${String(20 - at).padStart(2, '0')}`,
  }));
}
