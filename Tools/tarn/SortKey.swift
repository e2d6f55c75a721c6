import Foundation
import TarnStore
import ToolSupport

/// One sort key of `--sort`: `KEY`, then, after colons and in any order, the direction and how to
/// compare strings: `name:sv:desc`.
struct SortKey {
  private var key: String
  private var direction: String?
  private var locale: String?
  private var ignoresCase = false
  private var isNumeric = false

  /// Throws a `UsageError`.
  init(_ text: String) throws {
    let parts = PathText.parts(of: text, separatedBy: ":").map(String.init)
    key = parts[0]
    guard !key.isEmpty else { throw Self.usage(text) }
    for part in parts.dropFirst() {
      switch part {
      case "asc" where direction == nil, "desc" where direction == nil: direction = part
      case "nocase" where !ignoresCase: ignoresCase = true
      case "numeric" where !isNumeric: isNumeric = true
      case _ where locale == nil && Self.isLocale(part): locale = part
      default: throw Self.usage(text)
      }
    }
  }

  private static func usage(_ text: String) -> UsageError {
    UsageError(
      "--sort takes KEY, KEY:asc or KEY:desc, for strings also a locale (KEY:sv), 'nocase' and "
        + "'numeric', not '\(text)'")
  }

  /// ICU accepts any name, and ignores one that it does not know.
  private static func isLocale(_ name: String) -> Bool {
    let known = Locale(identifier: name).language.languageCode?.isISOLanguage == true
    return known && name.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "-" || $0 == "_") }
  }

  var term: OrderTerm {
    OrderTerm(key, isAscending: direction != "desc", collation: collation)
  }

  private var collation: TarnStore.Collation {
    let ignored: StringOptions = ignoresCase ? .caseInsensitive : []
    if locale != nil || isNumeric {
      return .localized(locale ?? "", ignoring: ignored, isNumeric: isNumeric)
    }
    return ignoresCase ? .ignoring(ignored) : .bytes
  }
}
