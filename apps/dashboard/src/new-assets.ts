const MARK = 'gateway-reloaded-for';

/** After a release the old page asks for files that are gone: it reloads, once for each address it was on. */
export function reloadOnceForNewAssets(): void {
  addEventListener('vite:preloadError', () => {
    if (sessionStorage.getItem(MARK) === location.href) return;
    void reloadWhereServed();
  });
}

/** A gateway that is away has nothing to load either: the page that is there is better than the browser's own error. */
export async function reloadWhereServed(): Promise<void> {
  try {
    const { ok } = await fetch('/dashboard/', { cache: 'no-store' });
    if (!ok) return;
  } catch {
    return;
  }
  sessionStorage.setItem(MARK, location.href);
  location.reload();
}
