// empty.cpp: the floor. A program linked as ours is and doing nothing.
int main() { return 0; }
