//! Guesses the visitor's kind of device, operating system and browser from `User-Agent`. Merchants see the guess; no decision
//! may depend on it.

use domain::payment::Device;
use woothee::parser::Parser;

const UNKNOWN: &str = "UNKNOWN";

pub fn of(user_agent: Option<&str>) -> Device {
    let Some(user_agent) = user_agent.filter(|text| !text.is_empty()) else {
        return Device { kind: Some("unknown".to_owned()), ..Device::default() };
    };
    let known = |text: &str| Some(text).filter(|text| !text.is_empty() && *text != UNKNOWN).map(str::to_owned);
    let (kind, os, browser) = match Parser::new().parse(user_agent) {
        Some(found) => (kind(user_agent, found.category, found.os), known(found.os), known(found.name)),
        None => ("unknown", None, None),
    };
    Device { kind: Some(kind.to_owned()), os, browser, user_agent: Some(user_agent.to_owned()) }
}

fn kind(user_agent: &str, category: &str, os: &str) -> &'static str {
    match category {
        "pc" => "desktop",
        "crawler" => "bot",
        "smartphone" | "mobilephone" if os == "iPad" => "tablet",
        // On Android, only phones have `Mobile` in their `User-Agent`.
        "smartphone" if os == "Android" && !user_agent.contains("Mobile") => "tablet",
        "smartphone" | "mobilephone" => "mobile",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_recognised_by_their_user_agents() {
        let chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0";
        for (user_agent, kind, os, browser) in [
            (
                format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {chrome} Safari/537.36"),
                "desktop",
                "Windows 10",
                "Chrome",
            ),
            (
                format!("Mozilla/5.0 (Linux; Android 14; SM-A155F) {chrome} Mobile Safari/537.36"),
                "mobile",
                "Android",
                "Chrome",
            ),
            (format!("Mozilla/5.0 (Linux; Android 14; SM-X200) {chrome} Safari/537.36"), "tablet", "Android", "Chrome"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/17.5 Mobile/15E148 Safari/604.1"
                    .to_owned(),
                "mobile",
                "iPhone",
                "Safari",
            ),
            (
                "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)".to_owned(),
                "bot",
                "",
                "Googlebot",
            ),
            ("something else".to_owned(), "unknown", "", ""),
        ] {
            let device = of(Some(&user_agent));
            let text = |value: Option<String>| value.unwrap_or_default();
            let seen = (text(device.kind), text(device.os), text(device.browser));
            assert_eq!(seen, (kind.to_owned(), os.to_owned(), browser.to_owned()), "{user_agent}");
            assert_eq!(device.user_agent, Some(user_agent));
        }
        assert_eq!(of(None).kind.as_deref(), Some("unknown"));
    }
}
