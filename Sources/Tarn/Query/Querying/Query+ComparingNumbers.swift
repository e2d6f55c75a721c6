import TarnStore

/// Numbers of different types compare by their exact value: `$0.age == $0.weight`. The compiler
/// chooses these only if no other comparison fits, so they change nothing elsewhere.
extension Query where T: _QueryNumber {
  /// True if both properties have the same number; never if only one is nil.
  @_disfavoredOverload
  public static func == <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.equal, with: b)
  }
  /// True if the properties have different numbers, or if one is nil.
  @_disfavoredOverload
  public static func != <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.notEqual, with: b)
  }
  @_disfavoredOverload
  public static func < <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.less, with: b)
  }
  @_disfavoredOverload
  public static func <= <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.lessOrEqual, with: b)
  }
  @_disfavoredOverload
  public static func > <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.greater, with: b)
  }
  @_disfavoredOverload
  public static func >= <V: _QueryNumber>(a: Query, b: Query<V>) -> Query<Bool> {
    a.compare(.greaterOrEqual, with: b)
  }
}
