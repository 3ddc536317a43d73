import { freePorts, startUpstreamDouble } from '@gateway/testing';
import { startEdge } from '../../edge.fixture.js';

/** A provider that works on an image for a while, and one that makes what it is asked for at once. */
export const [painter, maker] = await Promise.all([startUpstreamDouble(), startUpstreamDouble()]);

/** A provider whose address nothing listens on. */
export const UNREACHABLE = 'together';
const [closed] = await freePorts(1);

/** The edge that the parts of images.http.spec.ts share. */
export const started = await startEdge({
  upstreams: () =>
    Promise.resolve({ bfl: painter.url, openai: maker.url, [UNREACHABLE]: `http://127.0.0.1:${closed}` }),
});
afterAll(async () => {
  await started.close();
  await Promise.all([painter.close(), maker.close()]);
});
