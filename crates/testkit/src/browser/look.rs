//! The device and preferences that a page is viewed with, and the DevTools commands that set them.

use serde_json::{Value, json};

/// The colour scheme that the user prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    Light,
    Dark,
}

/// The device and preferences that a page is viewed with. Sizes are in CSS pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    pub width: u32,
    pub height: u32,
    /// Device pixels per CSS pixel, on the screen and in screenshots.
    pub scale: u32,
    /// A phone: touch, overlay scroll bars, and a wide layout for pages without a viewport of their own.
    pub mobile: bool,
    pub theme: Theme,
    /// The value of `Accept-Language`.
    pub language: &'static str,
    pub script: bool,
    pub reduced_motion: bool,
}

impl Look {
    /// An average phone, light colours, Indonesian.
    pub fn phone() -> Look {
        Look {
            width: 360,
            height: 740,
            scale: 2,
            mobile: true,
            theme: Theme::Light,
            language: "id",
            script: true,
            reduced_motion: false,
        }
    }

    /// The narrowest screen that pages support.
    pub fn narrow() -> Look {
        Look { width: 320, height: 568, ..Look::phone() }
    }

    pub fn desktop() -> Look {
        Look { width: 1_280, height: 800, scale: 1, mobile: false, ..Look::phone() }
    }

    pub fn dark(self) -> Look {
        Look { theme: Theme::Dark, ..self }
    }

    pub fn english(self) -> Look {
        Look { language: "en", ..self }
    }

    pub fn without_script(self) -> Look {
        Look { script: false, ..self }
    }

    pub fn with_reduced_motion(self) -> Look {
        Look { reduced_motion: true, ..self }
    }

    /// Zoomed to 200 %: everything is twice as large, so half as much fits on the screen.
    pub fn zoomed(self) -> Look {
        Look { width: self.width / 2, height: self.height / 2, scale: self.scale * 2, ..self }
    }

    /// The DevTools commands that set it. `user_agent` is the browser's own: the command for the language needs it.
    pub(super) fn commands(&self, user_agent: &str) -> Vec<(&'static str, Value)> {
        let theme = if self.theme == Theme::Dark { "dark" } else { "light" };
        let motion = if self.reduced_motion { "reduce" } else { "no-preference" };
        let features = [("prefers-color-scheme", theme), ("prefers-reduced-motion", motion)];
        let features = features.map(|(name, value)| json!({ "name": name, "value": value }));
        let metrics = json!({
            "width": self.width,
            "height": self.height,
            "deviceScaleFactor": self.scale,
            "mobile": self.mobile,
        });
        vec![
            ("Emulation.setDeviceMetricsOverride", metrics),
            ("Emulation.setTouchEmulationEnabled", json!({ "enabled": self.mobile })),
            ("Emulation.setEmulatedMedia", json!({ "features": features })),
            ("Emulation.setUserAgentOverride", json!({ "userAgent": user_agent, "acceptLanguage": self.language })),
            ("Emulation.setScriptExecutionDisabled", json!({ "value": !self.script })),
        ]
    }
}
