/// The kinds of sections of a change record with values before the commit. The raw values are on
/// disk.
///
///     32   column | (key | value) ...       primary keys of deleted objects
///     33   column | (key | value) ...       values of deleted and modified objects
///     34   column | key (zigzag) | nested id plus one, or 0 | flags u8 | [old count] |
///          (distance | [map key] | value) ...         elements of a list, set or map
///     35   key set                          the objects of a class that was cleared
///     36   level u8                         how much of the class is here
///
/// Numbers without a stated width are varints, values as in mixed columns (`TaggedValue`). Object
/// keys of 32 and 33 are distances from the key before, zigzag, the first one from 0. A distance of
/// 34 is the number of positions skipped since the element before. A sequence that does not fit its
/// section continues in the next one, which begins in the same way and counts distances from its
/// start; only the first section of a sequence has its old count.
///
/// The tags of long values (16 and 17) have the number under which the bytes are stored with the
/// record (`TreeKey.former`), counted from 0 in each record, and their length.
enum FormerKind: UInt8 {
  // `ChangeRecord.Section` names the range and two of the numbers.
  case primaryKeys = 32
  case values = 33
  case elements = 34
  case clearedKeys = 35
  case level = 36
}

/// The flags of a section of elements.
enum FormerFlag {
  static let isFirst: UInt8 = 1
  static let isWhole: UInt8 = 2
  static let isMap: UInt8 = 4
  static let known: UInt8 = 7
}
