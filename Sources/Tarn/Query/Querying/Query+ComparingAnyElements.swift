import TarnStore

// Elements and properties of which exactly one is an `AnyRealmValue`: `$0.values == $0.name`.

// `AnyRealmValue` elements.
extension Query where T: RealmCollection, T.Element == AnyRealmValue {
  /// True if some element equals the property.
  @_disfavoredOverload
  public static func == <V: _Persistable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.some.compare(.equal, with: b)
  }
  /// True if some element equals the property.
  @_disfavoredOverload
  public static func == <V: _Persistable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.equal, with: b.some)
  }
  /// True if some element differs from the property.
  @_disfavoredOverload
  public static func != <V: _Persistable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.some.compare(.notEqual, with: b)
  }
  /// True if some element differs from the property.
  @_disfavoredOverload
  public static func != <V: _Persistable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.notEqual, with: b.some)
  }
}

extension Query where T: RealmCollection, T.Element == AnyRealmValue {
  @_disfavoredOverload
  public static func < <V: _Persistable & _QueryComparable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.some.compare(.less, with: b)
  }
  @_disfavoredOverload
  public static func < <V: _Persistable & _QueryComparable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.less, with: b.some)
  }
  @_disfavoredOverload
  public static func <= <V: _Persistable & _QueryComparable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.some.compare(.lessOrEqual, with: b)
  }
  @_disfavoredOverload
  public static func <= <V: _Persistable & _QueryComparable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.lessOrEqual, with: b.some)
  }
  @_disfavoredOverload
  public static func > <V: _Persistable & _QueryComparable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.some.compare(.greater, with: b)
  }
  @_disfavoredOverload
  public static func > <V: _Persistable & _QueryComparable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.greater, with: b.some)
  }
  @_disfavoredOverload
  public static func >= <V: _Persistable & _QueryComparable>(a: Query, b: Query<V>) -> Query<Bool> {
    a.some.compare(.greaterOrEqual, with: b)
  }
  @_disfavoredOverload
  public static func >= <V: _Persistable & _QueryComparable>(a: Query<V>, b: Query) -> Query<Bool> {
    a.compare(.greaterOrEqual, with: b.some)
  }
}

// An `AnyRealmValue` property.
extension Query where T: RealmCollection, T.Element: _Persistable {
  /// True if some element equals the property.
  @_disfavoredOverload
  public static func == (a: Query, b: Query<AnyRealmValue>) -> Query<Bool> {
    a.some.compare(.equal, with: b)
  }
  /// True if some element equals the property.
  @_disfavoredOverload
  public static func == (a: Query<AnyRealmValue>, b: Query) -> Query<Bool> {
    a.compare(.equal, with: b.some)
  }
  /// True if some element differs from the property.
  @_disfavoredOverload
  public static func != (a: Query, b: Query<AnyRealmValue>) -> Query<Bool> {
    a.some.compare(.notEqual, with: b)
  }
  /// True if some element differs from the property.
  @_disfavoredOverload
  public static func != (a: Query<AnyRealmValue>, b: Query) -> Query<Bool> {
    a.compare(.notEqual, with: b.some)
  }
}

extension Query where T: RealmCollection, T.Element: _Persistable & _QueryComparable {
  @_disfavoredOverload
  public static func < (a: Query, b: Query<AnyRealmValue>) -> Query<Bool> {
    a.some.compare(.less, with: b)
  }
  @_disfavoredOverload
  public static func < (a: Query<AnyRealmValue>, b: Query) -> Query<Bool> {
    a.compare(.less, with: b.some)
  }
  @_disfavoredOverload
  public static func <= (a: Query, b: Query<AnyRealmValue>) -> Query<Bool> {
    a.some.compare(.lessOrEqual, with: b)
  }
  @_disfavoredOverload
  public static func <= (a: Query<AnyRealmValue>, b: Query) -> Query<Bool> {
    a.compare(.lessOrEqual, with: b.some)
  }
  @_disfavoredOverload
  public static func > (a: Query, b: Query<AnyRealmValue>) -> Query<Bool> {
    a.some.compare(.greater, with: b)
  }
  @_disfavoredOverload
  public static func > (a: Query<AnyRealmValue>, b: Query) -> Query<Bool> {
    a.compare(.greater, with: b.some)
  }
  @_disfavoredOverload
  public static func >= (a: Query, b: Query<AnyRealmValue>) -> Query<Bool> {
    a.some.compare(.greaterOrEqual, with: b)
  }
  @_disfavoredOverload
  public static func >= (a: Query<AnyRealmValue>, b: Query) -> Query<Bool> {
    a.compare(.greaterOrEqual, with: b.some)
  }
}
