import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

const gateway: MantineColorsTuple = [
  '#e9f3ff',
  '#d2e3f8',
  '#a4c6ee',
  '#73a7e4',
  '#4a8ddc',
  '#317dd8',
  '#2273d3',
  '#1462ba',
  '#0b5cad',
  '#004b93',
];

const SMALL = { fontSize: 'var(--mantine-font-size-xs)' };
const LARGE = { fontSize: '24px', lineHeight: '1.3' };
const MIDDLE = { fontSize: '16px', lineHeight: '1.4' };
const NO_BANNER = { defaultProps: { role: 'presentation' } };

export const theme = createTheme({
  fontFamily: '"Inter Variable", system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  // Three sizes of text: a heading or a sum, a title, and all else.
  fontSizes: { xs: '13px', sm: '13px', md: '16px', lg: '16px', xl: '24px' },
  headings: {
    fontFamily: '"Inter Variable", system-ui, sans-serif',
    fontWeight: '650',
    sizes: { h1: LARGE, h2: LARGE, h3: LARGE, h4: MIDDLE, h5: MIDDLE, h6: MIDDLE },
  },
  colors: { gateway },
  primaryColor: 'gateway',
  // White on the filled button has 4.5:1 in both schemes.
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Capitals shout in a list of states.
    Badge: {
      defaultProps: { tt: 'none', fw: 600 },
      styles: { label: SMALL },
    },
    InputWrapper: { styles: { description: SMALL, error: SMALL } },
    Pill: { styles: { root: SMALL } },
    Tooltip: { defaultProps: { withArrow: true, events: { hover: true, focus: true, touch: true } } },
    Modal: {
      defaultProps: { centered: true, radius: 'lg', closeButtonProps: { 'aria-label': 'Close' } },
      // As heavy as the title of a panel.
      styles: { title: { fontWeight: 650 } },
    },
    Drawer: { styles: { title: { fontWeight: 650 } } },
    // The kit puts an element without a role into the menu, which may hold items alone.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // The page has a banner, and a dialog is none.
    ModalHeader: NO_BANNER,
    DrawerHeader: NO_BANNER,
  },
});

/** The kit's own dimmed and placeholder colours are below the contrast of WCAG AA. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--page-background': 'var(--mantine-color-gray-1)',
    '--card-background': 'var(--mantine-color-white)',
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-anchor': 'var(--mantine-color-gateway-8)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-green-light-color': '#14602a',
    '--mantine-color-red-light-color': '#a01c1c',
    '--mantine-color-yellow-light-color': '#7a4a00',
    '--mantine-color-orange-light-color': '#8a3200',
    '--mantine-color-gray-light-color': 'var(--mantine-color-gray-8)',
    '--mantine-color-blue-light-color': 'var(--mantine-color-blue-9)',
  },
  dark: {
    '--page-background': 'var(--mantine-color-dark-8)',
    '--card-background': 'var(--mantine-color-dark-6)',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    // Lighter than shade 3, which is too dark on a row below the pointer.
    '--mantine-color-anchor': '#82b4ee',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    // A panel has the kit's own.
    '--mantine-color-disabled': 'var(--mantine-color-dark-5)',
    '--mantine-color-gateway-light-color': 'var(--mantine-color-gateway-2)',
    '--mantine-color-red-light-color': 'var(--mantine-color-red-3)',
    '--mantine-color-green-light-color': 'var(--mantine-color-green-3)',
  },
});
