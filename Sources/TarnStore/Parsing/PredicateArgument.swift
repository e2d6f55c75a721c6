/// The argument for a placeholder in the text of a predicate.
package enum PredicateArgument: Sendable {
  case value(Value)
  /// What `IN %@` and `BETWEEN %@` take.
  case values([Value])
  /// An object whose members are compared, of that class.
  case members(of: String, Predicate)
  /// What `IN %@` takes for links, if some of them lead to objects that compare member by member.
  case objects([Operand])
  /// What `IN %@` takes for a place.
  case shape(GeoShape)
  /// Something that no property can be compared with; what the message says of it.
  case unusable(String)
}
