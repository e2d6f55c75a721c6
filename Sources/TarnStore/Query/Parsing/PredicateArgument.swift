/// The argument of a placeholder in a predicate string.
package enum PredicateArgument: Sendable {
  case value(Value)
  /// For `IN %@` and `BETWEEN %@`.
  case values([Value])
  /// An object whose members are compared, of that class.
  case members(of: String, Predicate)
  /// For `IN %@` with links, if some of them are objects compared member by member.
  case objects([Operand])
  /// For `IN %@` with a place.
  case shape(GeoShape)
  /// An argument that cannot be compared with a property; its description for the message.
  case unusable(String)
}
