/// The name in a path of the objects that link to an object through a property:
/// `@links.Person.dogs`, one name with dots, whose class and property are quoted where needed.
package struct BacklinkName: CustomStringConvertible {
  private static let prefix = CollectionCondition.marker + "@links."
  package let origin: String
  package let property: String

  package init(origin: String, property: String) {
    self.origin = origin
    self.property = property
  }

  /// Nil for the name of a property.
  init?(_ name: String) {
    guard let rest = name.rest(afterBytesOf: Self.prefix) else { return nil }
    let names = PathText.names(in: String(rest))
    guard names.count == 2 else { return nil }
    self.init(origin: names[0], property: names[1])
  }

  /// Its form in a path.
  package var name: String { Self.prefix + PathText.text(of: [origin, property]) }
  package var description: String { "'\(origin).\(property)'" }
}
