const MARK = 'gateway-reloaded-for';

/** Reloads once for each address after a release, whose old page asks for deleted files. */
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
