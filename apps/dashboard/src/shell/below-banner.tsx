import { createContext, lazy, Suspense, useContext, type ReactNode } from 'react';
import { useAwayReads } from '../api/away-reads.js';

// Fetched beside the first page, not when it is needed: then there is nobody to fetch it from.
const banner = import('./away-banner.js');
const AwayBanner = lazy(() => banner);
const IsBelow = createContext(false);

/** Content of the page below one banner, which says of all its reads at once that the gateway is away. */
export function BelowBanner({ children }: { children: ReactNode }): ReactNode {
  const { nextTry, retry } = useAwayReads();
  return (
    <IsBelow value>
      <Suspense>{nextTry !== null && <AwayBanner nextTry={nextTry} retry={retry} />}</Suspense>
      {children}
    </IsBelow>
  );
}

/** True where a banner says that the gateway is away. */
export function useIsBelowBanner(): boolean {
  return useContext(IsBelow);
}
