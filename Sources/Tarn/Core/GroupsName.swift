import TarnStore

/// What groups of rows are made of; equal ones are shared.
struct GroupsName: Hashable {
  let spec: QuerySpec
  /// The property whose values make groups, in the file's words; nil for one group of all rows.
  let key: [String]?
  let terms: [AggregateTerm]
}
