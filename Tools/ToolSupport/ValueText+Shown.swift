package import TarnStore
package import TarnText

extension ValueText {
  /// The value for people, in one line. It is not read back.
  package static func shown(_ value: Value) -> String {
    if case .null = value { return "null" }
    if case .string("") = value { return "\"\"" }
    return printable(text(value) ?? "")
  }
}
