extension List: CollectionOfValues {
  static var elementType: any RealmCollectionValue.Type { Element.self }
}

extension MutableSet: CollectionOfValues {
  static var elementType: any RealmCollectionValue.Type { Element.self }
}

extension Map: CollectionOfValues {
  static var elementType: any RealmCollectionValue.Type { Value.self }
}
