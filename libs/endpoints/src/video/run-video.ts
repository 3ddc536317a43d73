import { ApiError, UpstreamError } from '@gateway/contracts';
import {
  exchangeTranslation,
  ExchangeFailure,
  mp4Seconds,
  type RouteTarget,
  type Translation,
  type UpstreamCalls,
  type VideoDialect,
  type VideoRequest,
  type VideoDone,
  type VideoState,
} from '@gateway/dialects';

const POLL_MS_MAX = 15_000;
/** Polls that may fail one after the other. */
const FAULTS_MAX = 6;
/** A header names them. */
const NAMEABLE = /^[\w.-]{1,64}$/;
const OF_ALL = ['user', 'safety_identifier'];

/**
 * A task from its begin, or from where it is, to its video. Once it has begun no other attempt is made: that would make
 * a second video.
 */
export function runVideo(request: VideoRequest, target: RouteTarget, dialect: VideoDialect): Translation {
  const ignored = Object.entries(request.options).flatMap(([name, value]) =>
    value == null || dialect.takes.includes(name) || OF_ALL.includes(name) || !NAMEABLE.test(name)
      ? []
      : [name],
  );
  return exchangeTranslation(async (calls) => {
    let { task } = request;
    if (task === null) {
      task = dialect.begun(await calls.send(dialect.create(request, target)), request);
      await calls.note(task);
    }
    try {
      const done = await watch(task, dialect, calls);
      const bytes = await fetched(done, calls);
      const seconds = [mp4Seconds(bytes), done.seconds, request.duration].find(canBe) ?? 0;
      const usage = {
        ...{ videos: 1, video_seconds: secondsText(seconds), prompt_tokens: 0, completion_tokens: 0 },
        ...(canBe(done.inputSeconds) && { input_video_seconds: secondsText(done.inputSeconds) }),
      };
      const headers = { 'content-type': 'video/mp4', 'x-video-seconds': secondsText(seconds) };
      return { headers, piece: { kind: 'end', out: bytes, usage } };
    } catch (failure) {
      throw final(failure, target);
    }
  }, ignored);
}

/** No model makes or takes an hour. */
const SECONDS_MAX = 3_600;
const SECONDS_MIN = 0.001;

function canBe(seconds: number | null | undefined): seconds is number {
  return typeof seconds === 'number' && seconds >= SECONDS_MIN && seconds < SECONDS_MAX;
}

/**
 * Returns seconds to the millisecond: a third of a second has more digits than a price takes, and would bill nothing.
 */
function secondsText(seconds: number): string {
  return String(Math.round(seconds * 1_000) / 1_000);
}

async function watch(task: string, dialect: VideoDialect, calls: UpstreamCalls): Promise<VideoDone> {
  let [waitMs, faults] = [dialect.pollMs, 0];
  for (;;) {
    await calls.sleep(waitMs);
    waitMs = Math.min(waitMs * 1.3, POLL_MS_MAX);
    let state: VideoState;
    try {
      state = dialect.read(await calls.send(dialect.poll(task)), task);
      faults = 0;
    } catch (failure) {
      faults += 1;
      if (faults >= FAULTS_MAX || !mayPass(failure)) throw failure;
      continue;
    }
    if (state.status === 'done') return state;
    if (state.status === 'failed') throw new TaskFailed(state);
  }
}

function mayPass(failure: unknown): boolean {
  if (failure instanceof ExchangeFailure) return true;
  if (!(failure instanceof UpstreamError)) return false;
  const { httpStatus, providerCode } = failure.options;
  // An answer beyond its bound does not get smaller.
  if (httpStatus === null) return providerCode !== 'bad_response';
  return httpStatus === 429 || httpStatus >= 500;
}

async function fetched({ result }: VideoDone, calls: UpstreamCalls): Promise<Uint8Array> {
  if ('bytes' in result) return result.bytes;
  for (let fault = 1; ; fault += 1) {
    try {
      if ('url' in result) return (await calls.download(result.url)).bytes;
      const reply = await calls.send(result.call);
      return (result.urlIn === undefined ? reply : await calls.download(result.urlIn(reply))).bytes;
    } catch (failure) {
      if (fault >= FAULTS_MAX || !mayPass(failure)) throw failure;
    }
    await calls.sleep(POLL_MS_MAX / 10);
  }
}

/** Error of a task that made no video, in the provider's words. */
class TaskFailed extends Error {
  constructor({ message, isRefused }: { message: string; isRefused: boolean }) {
    super(message);
    this.providerCode = isRefused ? 'content_policy_violation' : 'internal_provider_error';
  }

  readonly providerCode: 'content_policy_violation' | 'internal_provider_error';
}

/** Marks a failure as final, in the name of its provider: an ApiError is never retried. */
function final(failure: unknown, { said = (words) => words }: RouteTarget): unknown {
  if (failure instanceof TaskFailed) {
    const { providerCode, message } = failure;
    const code = providerCode === 'content_policy_violation' ? providerCode : 'upstream_error';
    return new ApiError(code, { providerCode, message: said(message) });
  }
  if (failure instanceof ExchangeFailure)
    return new ApiError('upstream_error', { providerCode: 'bad_response', message: said(failure.message) });
  if (!(failure instanceof UpstreamError)) return failure;
  const { code, providerCode, message, httpStatus } = failure.options;
  if (httpStatus === 404)
    return new ApiError('provider_resource_not_found', { message: 'The provider no longer knows the task.' });
  return new ApiError(code, { providerCode, message, cause: failure });
}
