/// Why a predicate or an order does not fit the schema. The shell prints it; where a signature
/// cannot throw, the same sentence is the trap's message.
package struct PredicateError: Error, Equatable, Sendable, CustomStringConvertible {
  package var message: String
  package init(_ message: String) { self.message = message }
  package var description: String { message }

  /// A class has no property with a name in a path.
  init(noProperty name: String, of owner: ClassSchema, in path: Path) {
    message = "class '\(owner.name)' has no property '\(name)'"
    let known = owner.columns.lazy.filter { !$0.isRemoved }.map(\.name)
    let names = path.drop { $0 != .property(name) }.map { $0.propertyName ?? "" }
    if let advice = PathText.advice(for: names, among: known) {
      message += ": \(advice)"
    } else if let near = nearestName(to: name, among: known) {
      message += ": the nearest name is '\(near)'"
    }
  }

  /// A step of a path leads into a value that cannot contain others.
  init(noElement step: ValueStep, in path: Path) {
    let before = Array(path.prefix { $0 != .element(step) }).text()
    message = "'\(before)' is not a list, map or AnyRealmValue, so \(step) cannot follow it"
  }
}
