import { readFeed } from './feed-address.js';

describe('a feed in a file', () => {
  it.each(['/dev/zero', '/dev', '/nowhere/feed.json'])('refuses %s at once', async (path) => {
    const reading = readFeed({ url: `file://${path}`, ca: null, proxy: null, timeoutMs: 60_000 });
    await expect(reading).rejects.toMatchObject({ name: 'FeedUnreadable' });
  });
});
